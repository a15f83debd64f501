/**
 * The values that `console` hands to the engine's own methods, which print an error without its stack and know no
 * placeholders.
 */

/** Limits of one call: nesting and number of objects that are searched for errors, errors that are shown, characters of each. */
const MAX_DEPTH = 8;
const MAX_OBJECTS = 1000;
const MAX_ERRORS = 10;
const MAX_LENGTH = 10_000;

/** Returns the values to print: placeholders are filled, and errors have their stacks and causes. */
export function printable(values: readonly unknown[]): readonly unknown[] {
  const [first] = values;
  const isFormat = values.length > 1 && typeof first === "string" && first.includes("%");
  if (!isFormat && !values.some(isObject)) return values;
  try {
    return withStacks(isFormat ? filled(first, values.slice(1)) : values);
  } catch {
    // A getter or a proxy of the value threw.
    return values;
  }
}

/** Reports whether a value is an error of any realm. */
const isError = (value: unknown): value is Error =>
  value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Fills placeholders (Console Standard, section 2.2). An object stays a value of its own, which the engine prints. */
function filled(format: string, rest: unknown[]): unknown[] {
  const parts: unknown[] = [];
  let text = "";
  let end = 0;
  for (const { 0: place, index } of format.matchAll(/%[sdifjoOc%]/g)) {
    if (place !== "%%" && rest.length === 0) continue;
    text += format.slice(end, index);
    end = index + 2;
    const value = place === "%%" ? "%" : placed(place, rest.shift());
    if (!isObject(value)) {
      text += String(value);
      continue;
    }
    // The engine separates values with spaces.
    if (text !== "") parts.push(text.replace(/ $/, ""));
    parts.push(value);
    text = "";
    if (format[end] === " ") end += 1;
  }
  text += format.slice(end);
  return [...parts, ...(text === "" && parts.length > 0 ? [] : [text]), ...rest];
}

function placed(place: string, value: unknown): unknown {
  switch (place) {
    case "%s":
      return String(value);
    case "%d":
    case "%i":
      return typeof value === "symbol" ? Number.NaN : Number.parseInt(String(value), 10);
    case "%f":
      return typeof value === "symbol" ? Number.NaN : Number.parseFloat(String(value));
    case "%j":
      return JSON.stringify(value);
    case "%c":
      return "";
    default:
      return value;
  }
}

/**
 * Replaces errors by their titles, and appends their stacks as lines of their own, because the runtime maps whole lines to
 * the sources. An error that stands last is followed by its stack at once.
 */
function withStacks(values: readonly unknown[]): readonly unknown[] {
  const found = new Set<Error>();
  const copies = new Map<object, unknown>();
  const shown = values.map((value) => copyOf(value, found, copies, 0));
  if (found.size === 0) return values;
  const last = values.at(-1);
  let text = "";
  if (isError(last)) {
    shown.pop();
    found.delete(last);
    text = stacksOf([last, ...found]);
  } else {
    text = `\n${stacksOf([...found])}`;
    if (!isObject(shown.at(-1))) text = `${String(shown.pop())}${text}`;
  }
  return [...shown, text];
}

/** Copies lists, maps, sets and objects that may hold errors, with a title in the place of each error. */
function copyOf(value: unknown, found: Set<Error>, copies: Map<object, unknown>, depth: number): unknown {
  if (isError(value)) {
    found.add(value);
    return titleOf(value);
  }
  if (!isObject(value) || ArrayBuffer.isView(value)) return value;
  if (copies.has(value)) return copies.get(value);
  if (depth === MAX_DEPTH || copies.size === MAX_OBJECTS) return value;
  const inner = (each: unknown) => copyOf(each, found, copies, depth + 1);
  // Before its parts, which may refer to it.
  const copy = emptyCopyOf(value);
  copies.set(value, copy);
  if (Array.isArray(value)) for (const each of value) (copy as unknown[]).push(inner(each));
  else if (value instanceof Map) for (const [key, each] of value) (copy as typeof value).set(inner(key), inner(each));
  else if (value instanceof Set) for (const each of value) (copy as typeof value).add(inner(each));
  else return copyOfObject(value, copy as Record<string, unknown>, found, copies, inner);
  return copy;
}

function emptyCopyOf(value: object): object {
  if (Array.isArray(value)) return [];
  if (value instanceof Map) return new Map();
  return value instanceof Set ? new Set() : {};
}

/** Keeps an object of a class that holds no error, because its copy would be of no class. */
function copyOfObject(
  value: object,
  copy: Record<string, unknown>,
  found: Set<Error>,
  copies: Map<object, unknown>,
  inner: (value: unknown) => unknown,
): object {
  const { size } = found;
  for (const [key, each] of Object.entries(value)) copy[key] = inner(each);
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype || found.size > size) return copy;
  copies.set(value, value);
  return value;
}

function titleOf({ name, message }: Error): string {
  const title = message === "" ? String(name) : `${name}: ${message}`;
  return title.length > MAX_LENGTH ? `${title.slice(0, MAX_LENGTH)}…` : title;
}

/** Describes errors, each with its causes and, of an `AggregateError`, its errors. An error is described once. */
function stacksOf(errors: readonly Error[]): string {
  const left = errors.map((error) => ({ error: error as unknown, label: "" }));
  const done = new Set<unknown>();
  const texts: string[] = [];
  while (left.length > 0 && texts.length < MAX_ERRORS) {
    const { error, label } = left.shift() as (typeof left)[number];
    if (done.has(error)) continue;
    done.add(error);
    if (!isError(error)) {
      texts.push(`${label}${String(error)}`);
      continue;
    }
    texts.push(label + stackOf(error));
    const { cause, errors } = error as Error & { readonly errors?: unknown };
    const more = Array.isArray(errors)
      ? errors.map((each) => ({ error: each as unknown, label: "One of its errors: " }))
      : [];
    left.unshift(...(cause === undefined ? [] : [{ error: cause, label: "Caused by: " }]), ...more);
  }
  if (left.length > 0) texts.push(`(${left.length} more errors)`);
  return texts.join("\n");
}

/** An error's title, its stack, and its other properties, such as `code`. Engines differ in whether a stack has the title. */
function stackOf(error: Error): string {
  const title = titleOf(error);
  const stack = String(error.stack ?? "");
  const lines = stack.startsWith(title) ? stack.slice(title.length) : `\n${stack}`;
  const known = ["name", "message", "stack", "cause", "errors", "fileName", "lineNumber", "columnNumber"];
  const properties = Object.entries(error)
    .filter(
      ([key, value]) => !known.includes(key) && value !== undefined && !isObject(value) && typeof value !== "function",
    )
    .map(([key, value]) => `${key}: ${typeof value === "string" ? JSON.stringify(value) : String(value)}`);
  const more = properties.length > 0 ? `\n{ ${properties.join(", ")} }` : "";
  const text = `${title}${lines.trimEnd()}`;
  return (text.length > 2 * MAX_LENGTH ? `${text.slice(0, 2 * MAX_LENGTH)}…` : text) + more.slice(0, MAX_LENGTH);
}
