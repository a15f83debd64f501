import { expect, test } from "vitest";
import { readToml, TomlMistake } from "./toml.ts";

function mistakeIn(text: string): string {
  try {
    readToml(text);
  } catch (error) {
    if (error instanceof TomlMistake) return `${error.at.line}:${error.at.column} ${error.message}`;
    throw error;
  }
  throw new Error(`${JSON.stringify(text)} was not refused`);
}

test.each([
  ["port =", "1:7 a value is missing"],
  ["port =\nhost = 'a'", "1:7 a value is missing"],
  ["port", "1:5 an = is missing after the key"],
  ["= 3", "1:1 this does not belong here; a line is key = value or [section]"],
  ["port: 3", "1:5 this character does not belong here; a line is key = value or [section]"],
  ["host = localhost", "1:8 this is not a value: strings are in quotes"],
  ["hosts = ['a', b]", "1:15 this is not a value: strings are in quotes"],
  ["log = True", "1:7 this is not a value: strings are in quotes, and the others are numbers, true, false,"],
  ["size = 10 MiB", "1:11 nothing but a comment may follow on this line"],
  ["[server]]", "1:9 nothing but a comment may follow on this line"],
  ["[server\nport = 3", "1:8 the section's name has no closing ]"],
  ['host = "a\n', "1:10 the string has no closing quote"],
  ["allow = ['a'", "1:13 the list has no closing ]"],
  ["allow = ['a' 'b']", "1:14 a comma is missing"],
  ["db = { run = 'sql'\n", "1:19 the table has no closing }"],
  ["db = { run = 'sql',\n url = 'a' }", "1:20 the table has no closing } on its line"],
  ["db = { run = 'sql', }", "1:21 a table in braces must not end with a comma"],
  ["port = 1\nport = 2", "2:1 this name is there already; a key or a section may be there once"],
  ["[]", "1:2 a name is missing"],
  ["a..b = 1", "1:2 a name is missing between the dots"],
  ["[a.]", "1:3 a name is missing after the dot"],
  ["[.a]", "1:2 a name is missing before the dot"],
  ["port =\n3", "1:7 a value is missing"],
  ["port\n= 3", "1:5 an = is missing after the key"],
  ["port = 03", "1:8 a number must not begin with a zero"],
  ["port = 3__0", "1:10 an underscore may stand between two digits only"],
  ["[ [a]]", "1:3 spaces are not allowed here"],
  ["a = '''b''''''", "1:9 there are too many quotes"],
  ["a = 2026-13-01", "1:14 there is no such date"],
  ["a = 2026-01-01T25:00:00", "1:23 there is no such time"],
  ['a = "\\q"', "1:7 there is no such escape sequence; a backslash is \\\\"],
  ["a = 'b\u0001'", "1:7 control characters are not allowed here"],
])("%j is reported in plain words", (text, message) => {
  expect(mistakeIn(text)).toContain(message);
});
