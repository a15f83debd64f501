/** Values at random, as SQL expressions: edges often, everything else now and then. */

/** Numbers at random out of a seed (mulberry32), so that a failure can be seen again. */
export function randomOf(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  const list = <T>(length: number, each: () => T) => Array.from({ length }, each);
  return {
    below,
    list,
    of: <T>(...choices: readonly T[]) => choices[below(choices.length)] as T,
    /** True with this probability. */
    is: (probability: number) => next() < probability,
    /** A whole number of any size within the bounds. */
    between(min: bigint, max: bigint): bigint {
      const size = BigInt.asUintN(below(64) + 1, BigInt(below(2 ** 32)) * 2n ** 32n + BigInt(below(2 ** 32)));
      const number = [min, max, 0n, -1n, 1n, size, -size, min + size, max - size][below(9)] as bigint;
      return number < min ? min : number > max ? max : number;
    },
    digits: (length: number) => list(length, () => below(10)).join(""),
    hex: (bytes: number) => list(bytes, () => below(256).toString(16).padStart(2, "0")).join(""),
  };
}

export type Random = ReturnType<typeof randomOf>;

/** A text in SQL. */
export const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Characters that something might take for its own. */
const ODD = [..."\"'\\{},:[]()%_/ \t\n\r\u0001\u007f\u0085\u00a0\u2028\ufeff\ufffd\uffffß中🎉\u{10ffff}"];

export function text(random: Random): string {
  const character = () => {
    if (random.is(0.4)) return random.of(...ODD);
    const code = random.is(0.5) ? 32 + random.below(95) : 1 + random.below(0x10ffff);
    return code >= 0xd800 && code < 0xe000 ? "x" : String.fromCodePoint(code);
  };
  return random.list(random.below(12), character).join("");
}

/** A double out of its 64 bits. */
export function double(random: Random): number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setUint32(0, random.below(2 ** 32));
  bits.setUint32(4, random.below(2 ** 32));
  const edges = [0, -0, 1, -1, 0.1, 5e-324, 2.2250738585072014e-308, Number.MAX_VALUE, 2 ** 53, 1e21];
  return random.is(0.3) ? random.of(...edges) : bits.getFloat64(0);
}

export function float(random: Random): number {
  const bits = new DataView(new ArrayBuffer(4));
  bits.setUint32(0, random.below(2 ** 32));
  const edges = [0, -0, 0.1, 1.401298464324817e-45, 1.1754943508222875e-38, 3.4028234663852886e38, 16777217].map(
    Math.fround,
  );
  return random.is(0.3) ? random.of(...edges) : bits.getFloat32(0);
}

/** As SQL and JSON write it; JavaScript itself writes `-0` as `0`. */
export const numberText = (number: number) => (Object.is(number, -0) ? "-0" : String(number));

export function decimal(random: Random): string {
  if (random.is(0.1)) return random.of("NaN", "Infinity", "-Infinity", "0", "0.00", "-0.0");
  if (random.is(0.002))
    return random.of(`${"9".repeat(131_072)}`, `0.${"0".repeat(16_382)}1`, `1${"0".repeat(131_071)}`);
  const fraction = random.is(0.6) ? `.${random.digits(1 + random.below(25))}${random.of("", "000")}` : "";
  return `${random.of("", "-")}${random.digits(1 + random.below(30))}${fraction}`;
}

/** JSON text that PostgreSQL's `json` takes; `jsonb` has neither U+0000 nor halves of pairs, and numbers within `numeric`. */
export function json(random: Random, isBinary: boolean, depth = 0): string {
  const blank = () => (random.is(0.1) ? random.of(" ", "\n", "\t") : "");
  const string = () => {
    const escapes = isBinary ? ["\\u00e9", "\\/", "\\n"] : ["\\u0000", "\\u00e9", "\\/", "\\ud83c\\udf89"];
    return `"${JSON.stringify(text(random)).slice(1, -1)}${random.is(0.2) ? random.of(...escapes) : ""}"`;
  };
  const number = () => {
    const fraction = random.is(0.5) ? `.${random.digits(1 + random.below(20))}` : "";
    const exponent = random.is(0.2) ? `e${random.of("", "-", "+")}${random.below(300)}` : "";
    return `${random.of("", "-")}${1 + random.below(9)}${random.digits(random.below(25))}${fraction}${exponent}`;
  };
  const inner = () => `${blank()}${json(random, isBinary, depth + 1)}${blank()}`;
  const kind = random.below(depth < 4 ? 8 : 5);
  if (kind === 0) return random.of("true", "false");
  // At the top it reads as NULL.
  if (kind === 1) return depth > 0 ? "null" : "-0";
  if (kind === 2) return string();
  if (kind < 5) return random.is(0.3) ? random.of("0", "-0", "0.10", "1E400", "9007199254740993", "1e-400") : number();
  if (kind === 5) return `[${random.list(random.below(4), inner).join(",")}]`;
  return `{${random.list(random.below(4), () => `${blank()}${random.is(0.2) ? '"a"' : string()}:${inner()}`).join(",")}}`;
}

/** A type of PostgreSQL: its name, and an expression of a value. */
export type PostgresType = readonly [type: string, expression: (random: Random) => string];

const literal = (type: string, of: (random: Random) => string): PostgresType => [type, (random) => quote(of(random))];
const integer = (type: string, min: bigint, max: bigint) => literal(type, (random) => `${random.between(min, max)}`);
const oneOf = (type: string, ...texts: readonly string[]) => literal(type, (random) => random.of(...texts));

const moment = (type: string, start: string): PostgresType => [
  type,
  (random) => {
    if (random.is(0.1))
      return quote(random.of("infinity", "-infinity", "4714-11-24 00:00:00 BC", "0001-12-31 23:59:59 BC"));
    const micros = random.between(-211_813_488_000_000_000n, 9_223_371_331_199_999_999n);
    // One interval of all of it would be a double on the way.
    return `${start} + ${micros / 86_400_000_000n} * interval '1 day' + ${micros % 86_400_000_000n} * interval '1 microsecond'`;
  },
];

const time = (random: Random) => {
  const two = (below: number) => String(random.below(below)).padStart(2, "0");
  if (random.is(0.1)) return random.of("24:00:00", "00:00:00", "23:59:59.999999");
  return `${two(24)}:${two(60)}:${two(60)}${random.is(0.5) ? `.${random.digits(1 + random.below(6))}` : ""}`;
};

/** The labels of `CREATE TYPE odd AS ENUM`. */
export const LABELS = ["a", "ü b", '"', "{,}", "null ", "\\", "'"];

/** The types that the page lists. */
export const LISTED: readonly PostgresType[] = [
  oneOf("bool", "true", "false"),
  integer("int2", -(2n ** 15n), 2n ** 15n - 1n),
  integer("int4", -(2n ** 31n), 2n ** 31n - 1n),
  integer("int8", -(2n ** 63n), 2n ** 63n - 1n),
  integer("oid", 0n, 2n ** 32n - 1n),
  literal("float4", (random) => numberText(float(random))),
  literal("float8", (random) => numberText(double(random))),
  literal("numeric", decimal),
  literal("text", text),
  literal("varchar", text),
  literal("char(12)", text),
  literal("name", (random) => [...text(random)].slice(0, 10).join("")),
  ['"char"', (random) => `(${random.below(256) - 128})::"char"`],
  literal("bytea", (random) => `\\x${random.hex(random.below(20))}`),
  literal("uuid", (random) => random.of(random.hex(16), "0".repeat(32), "f".repeat(32))),
  [
    "date",
    (random) =>
      random.is(0.1)
        ? quote(random.of("infinity", "-infinity", "0001-12-31 BC", "9999-12-31", "10000-01-01"))
        : `DATE '2000-01-01' + (${random.between(-2_451_545n, 2_145_031_948n)})`,
  ],
  literal("time", time),
  moment("timestamp", "TIMESTAMP '2000-01-01'"),
  moment("timestamptz", "TIMESTAMPTZ '2000-01-01 00:00:00Z'"),
  literal("json", (random) => json(random, false)),
  literal("jsonb", (random) => json(random, true)),
  oneOf("odd", ...LABELS),
  oneOf("positive", "1", "7", "2147483647"),
  literal("document", (random) => json(random, true)),
  oneOf("few", "{}", "{1}", "{NULL,-2147483648,3}"),
];

const address = (random: Random) =>
  random.is(0.5) ? random.list(4, () => random.below(256)).join(".") : random.list(8, () => random.hex(2)).join(":");

const range = (type: string): PostgresType =>
  literal(type, (random) => {
    const from = random.below(1000);
    const [first, last] = [random.of("", `${from}`), random.of("", `${from + random.below(9)}`)];
    return random.is(0.1) ? "empty" : `${random.of("[", "(")}${first},${last}${random.of("]", ")")}`;
  });

/** The types that have no form in JSON, which are read and bound as texts. */
export const UNLISTED: readonly PostgresType[] = [
  literal("interval", (random) => {
    const part = (unit: string) => random.of("", `${random.between(-(2n ** 24n), 2n ** 24n)} ${unit}`);
    return `0 seconds ${["months", "days", "hours", "microseconds"].map(part).join(" ")}`;
  }),
  literal("money", (random) => `${random.between(-(2n ** 63n) / 100n, 2n ** 63n / 100n - 1n)}`),
  literal("bit(9)", (random) => random.list(9, () => random.below(2)).join("")),
  literal("varbit", (random) => random.list(random.below(70), () => random.below(2)).join("")),
  literal("timetz", (random) => `${time(random)}${random.of("+00", "-15:59", "+05:30", "+15:59:59")}`),
  literal("inet", (random) => `${address(random)}${random.of("", "/7", "/32")}`),
  literal("macaddr", (random) => random.hex(6)),
  literal("macaddr8", (random) => random.hex(8)),
  literal("point", (random) => `(${numberText(double(random))},${numberText(double(random))})`),
  literal("pg_lsn", (random) => `${random.hex(4).replace(/^0+(?=.)/, "")}/${random.hex(2).replace(/^0+(?=.)/, "")}`),
  literal("tsvector", (random) =>
    random
      .list(random.below(4), () => quote(text(random).replaceAll("\\", "")))
      .filter((each) => each !== "''")
      .join(" "),
  ),
  range("int4range"),
  range("numrange"),
  ["int4multirange", (random) => quote(`{${random.of("", "[1,3)", "[1,3),[7,9)", "(,5)")}}`)],
  ["pair", (random) => `ROW(${random.below(9)}, ${quote(text(random))})`],
];

/** An array of a type: of up to three dimensions, with NULLs in it. */
export function arrayOf([type, expression]: PostgresType): PostgresType {
  // A list within a list of JSON is one of its elements, and a text is JSON itself.
  const isJson = type.startsWith("json") || type === "document";
  const element = (random: Random): string => {
    if (random.is(0.1)) return "NULL";
    const made = expression(random);
    return isJson && made.trimStart().startsWith(`'"`) ? "'[]'" : `(${made})::${type}`;
  };
  const level = (random: Random, lengths: readonly number[]): string =>
    `ARRAY[${random.list(lengths[0] as number, () => (lengths.length > 1 ? level(random, lengths.slice(1)) : element(random))).join(",")}]`;
  const make = (random: Random) => {
    const lengths = random.list(isJson ? 1 : 1 + random.below(3), () => 1 + random.below(3));
    return random.is(0.1) ? "'{}'" : level(random, lengths);
  };
  return [`${type}[]`, make];
}
