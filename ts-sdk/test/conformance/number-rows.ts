import { body, type Expected, gives, path, query, type Row } from "./row.ts";

/** The same digits as a JSON number in a body, and as text in a query and a path. */
function everywhere(field: string, digits: string, expected: Expected): Row[] {
  const encoded = encodeURIComponent(digits);
  return [body(field, digits, expected), query(field, `v=${encoded}`, expected), path(field, encoded, expected)];
}

const accepted = (field: string, ...digits: string[]): Row[] =>
  digits.flatMap((text) => everywhere(field, text, gives(Number(text) + 0)));
const refused = (field: string, code: string, ...digits: string[]): Row[] =>
  digits.flatMap((text) => everywhere(field, text, code));
const noText = (field: string, ...texts: string[]): Row[] =>
  texts.flatMap((text) => [
    query(field, `v=${encodeURIComponent(text)}`, "type"),
    path(field, encodeURIComponent(text), "type"),
  ]);
const noJson = (field: string, ...jsons: string[]): Row[] => jsons.map((json) => body(field, json, "type"));

/** Numbers: their ranges, bounds and grammar; a JSON body is strict, a path and a query are converted. */
export const numberRows: Row[] = [
  ...accepted("u32", "0", "1", "-0", "4294967295"),
  ...refused("u32", "type", "-1", "4294967296", "1.5", "99999999999999999999"),
  body("u32", "1.0", gives(1)),
  body("u32", "1e2", gives(100)),
  body("u32", "1e400", "type"),
  body("u32", "1.0000000000000000001", gives(1)),
  ...noText(
    "u32",
    "1.0",
    "1e2",
    "a",
    " 1",
    "1 ",
    "+1",
    "0x10",
    "1_000",
    "１",
    "--1",
    "-",
    "NaN",
    "Infinity",
    "1,0",
    "true",
    "null",
    "1\n",
  ),
  query("u32", "v=", "type"),
  query("u32", "v", "type"),
  query("u32", "v=007", gives(7)),
  query("u32", "v=a&v=2", gives(2)),
  query("u32", "v=2&v=a", "type"),
  ...noJson("u32", '"1"', '""', "true", "null", "[]", "[1]", "{}"),
  body("u32", "", "required"),
  query("u32", "", "required"),
  query("u32", "v=%31", gives(1)),

  ...accepted("u32From10To20", "10", "15", "20"),
  ...refused("u32From10To20", "min", "9", "0"),
  ...refused("u32From10To20", "max", "21", "4294967295"),
  ...refused("u32From10To20", "type", "-1", "10.5"),

  ...accepted("i32", "-2147483648", "2147483647", "0", "-1"),
  ...refused("i32", "type", "-2147483649", "2147483648", "0.1"),
  ...accepted("i32Min5", "-5", "0"),
  ...refused("i32Min5", "min", "-6"),

  ...accepted("i64", "-9007199254740991", "9007199254740991", "0", "4294967296"),
  ...refused("i64", "type", "9007199254740992", "-9007199254740992", "9007199254740993", "9223372036854775807", "0.5"),
  ...noJson("i64", '"9007199254740993"', "1e300", "null"),

  ...accepted("f64", "0", "-1.5", "1e3", "1E-3", "0.1", "1.7976931348623157e308", "5e-324", "123456789012345680000"),
  ...refused("f64", "type", "1e400", "-1e400"),
  query("f64", "v=.5", gives(0.5)),
  query("f64", "v=5.", gives(5)),
  ...noText("f64", "a", "", "NaN", "Infinity", "-Infinity", "0x1", "1e", "1,5", ".", "-.", "1.2.3", " 1").filter(
    ({ path: at }) => at !== "/path/f64/",
  ),
  ...noJson("f64", '"1.5"', "true", "null", "[1.5]"),
  ...accepted("f64From0To1", "0", "1", "0.5"),
  ...refused("f64From0To1", "min", "-0.0001"),
  ...refused("f64From0To1", "max", "1.0000001"),

  ...["true", "false"].flatMap((word) => [
    body("bool", word, gives(word === "true")),
    query("bool", `v=${word}`, gives(word === "true")),
    path("bool", word, gives(word === "true")),
  ]),
  ...noText("bool", "TRUE", "1", "0", "yes", "on", "null", " true"),
  query("bool", "v=", "type"),
  ...noJson("bool", '"true"', "1", "0", "null", "[]", "{}"),
  body("bool", "", "required"),

  ...["red", "green", "dark blue"].flatMap((word) => [
    body("enum", JSON.stringify(word), gives(word)),
    query("enum", `v=${encodeURIComponent(word)}`, gives(word)),
    path("enum", encodeURIComponent(word), gives(word)),
  ]),
  ...["Red", "blue", "red ", "re", "constructor", "0"].flatMap((word) => [
    body("enum", JSON.stringify(word), "enum"),
    query("enum", `v=${encodeURIComponent(word)}`, "enum"),
    path("enum", encodeURIComponent(word), "enum"),
  ]),
  ...noJson("enum", "0", "null", "true", '["red"]'),
];
