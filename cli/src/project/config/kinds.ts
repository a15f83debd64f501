/**
 * A kind of value that a key takes. It reads a value of the file and the text of an environment variable, and describes itself
 * for errors, the reference and the JSON Schema.
 */
export interface Kind<T> {
  /** In words, after "must be". */
  readonly description: string;
  /** The value when it is of this kind. */
  read(value: unknown): T | undefined;
  /** The value that the text of an environment variable stands for. */
  fromText(text: string): T | undefined;
  /** The value as TOML has it. */
  show(value: T): string;
  /** Draft-07, which editors for TOML read. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Any text. */
export const text: Kind<string> = {
  description: "a string",
  read: (value) => (typeof value === "string" ? value : undefined),
  fromText: (given) => given,
  show: (value) => JSON.stringify(value),
  schema: { type: "string" },
};

/** `true` or `false`. */
export const flag: Kind<boolean> = {
  description: "true or false",
  read: (value) => (typeof value === "boolean" ? value : undefined),
  fromText: (given) => (given === "true" ? true : given === "false" ? false : undefined),
  show: String,
  schema: { type: "boolean" },
};

/** A whole number, both bounds included. */
export function wholeNumber(min: number, max: number): Kind<number> {
  const fits = (value: number) => (Number.isInteger(value) && value >= min && value <= max ? value : undefined);
  return {
    description: `a whole number from ${min} to ${max}`,
    read: (value) => (typeof value === "number" ? fits(value) : undefined),
    fromText: (given) => (/^[0-9]{1,15}$/.test(given) ? fits(Number(given)) : undefined),
    show: String,
    schema: { type: "integer", minimum: min, maximum: max },
  };
}

/** A part of all, from 0 to 1. */
export const share: Kind<number> = {
  description: "a number from 0 to 1",
  read: (value) => (typeof value === "number" && value >= 0 && value <= 1 ? value : undefined),
  fromText: (given) => (/^(?:0|1|0?\.\d{1,12}|1\.0+)$/.test(given) ? Number(given) : undefined),
  show: String,
  schema: { type: "number", minimum: 0, maximum: 1 },
};

/** One of a few words. */
export function oneOf<const T extends string>(...values: readonly T[]): Kind<T> {
  const known = (value: unknown) => values.find((each) => each === value);
  return {
    description: values.map((value) => JSON.stringify(value)).join(" or "),
    read: known,
    fromText: known,
    show: (value) => JSON.stringify(value),
    schema: { type: "string", enum: values },
  };
}

/** A list of texts; in the environment they are separated by commas. */
export const textList: Kind<readonly string[]> = {
  description: "a list of strings",
  read: (value) =>
    Array.isArray(value) && value.every((each): each is string => typeof each === "string") ? value : undefined,
  fromText: (given) =>
    given
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== ""),
  show: (value) => JSON.stringify(value),
  schema: { type: "array", items: { type: "string" } },
};

/** A text, or a table of what JSON can express. Dates, infinities and integers beyond 2^53 are refused: JSON would change them. */
export const textOrTable: Kind<string | Readonly<Record<string, unknown>>> = {
  description: "a string, or a table of what JSON has",
  read: (value) => (typeof value === "string" || (isTable(value) && isJson(value)) ? value : undefined),
  fromText: (given) => given,
  show: (value) => JSON.stringify(value),
  schema: { anyOf: [{ type: "string" }, { type: "object" }] },
};

/** Reports whether a value is a table of TOML. */
export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson);
  if (isTable(value)) return Object.values(value).every(isJson);
  if (typeof value === "number") return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return typeof value === "string" || typeof value === "boolean";
}
