/** `util.inspect` and `util.format`: a value as a readable text in Node's form, without colors. */

/** The supported options of Node's. */
export interface InspectOptions {
  /** Maximum nesting of shown objects; `null` shows all. */
  readonly depth?: number | null | undefined;
  readonly showHidden?: boolean;
  readonly breakLength?: number;
  readonly compact?: boolean | number;
  readonly sorted?: boolean | ((a: string, b: string) => number);
  readonly maxArrayLength?: number | null;
  readonly maxStringLength?: number | null;
}

interface Frame {
  readonly options: InspectOptions;
  readonly above: readonly object[];
  readonly circular: Map<object, number>;
}

const custom = Symbol.for("nodejs.util.inspect.custom");

/** Formats a value as a text. */
export function inspect(value: unknown, options?: InspectOptions | boolean, depth?: number | null): string {
  const given = typeof options === "object" ? options : { showHidden: options === true, depth };
  return shown(value, { options: given, above: [], circular: new Map() }, 0);
}
inspect.custom = custom;
inspect.defaultOptions = { depth: 2 };

function shown(value: unknown, frame: Frame, indentation: number): string {
  switch (typeof value) {
    case "string":
      return frame.above.length === 0 ? quoted(cut(value, frame)) : quoted(cut(value, frame));
    case "bigint":
      return `${value}n`;
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "object":
    case "function":
      return value === null ? "null" : objectShown(value, frame, indentation);
    default:
      return String(value);
  }
}

function cut(text: string, { options }: Frame): string {
  const longest = options.maxStringLength ?? Number.POSITIVE_INFINITY;
  return text.length > longest ? `${text.slice(0, longest)}... ${text.length - longest} more characters` : text;
}

/** Quotes a text with quotes that it does not contain. */
function quoted(text: string): string {
  const quote = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !/[`$]/.test(text) ? "`" : "'";
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return quote + (quote === "'" ? inner.replaceAll("'", "\\'") : inner) + quote;
}

function objectShown(value: object, frame: Frame, indentation: number): string {
  const own = (value as Record<symbol, unknown>)[custom];
  const depth = frame.options.depth === undefined ? inspect.defaultOptions.depth : frame.options.depth;
  const level = frame.above.length;
  if (typeof own === "function") {
    const left = depth === null ? null : depth - level;
    const result = own.call(value, left, { ...frame.options, depth: left, stylize: String }, inspect);
    if (result !== value) return typeof result === "string" ? result : shown(result, frame, indentation);
  }
  if (frame.above.includes(value)) {
    const number = frame.circular.get(value) ?? frame.circular.size + 1;
    frame.circular.set(value, number);
    return `[Circular *${number}]`;
  }
  const { prefix, open, close, entries, isList } = partsOf(value, {
    ...frame,
    above: [...frame.above, value],
  });
  if (open === undefined) return prefix;
  if (depth !== null && level > depth) {
    const name = prefix.trim() || (Array.isArray(value) ? "Array" : "Object");
    return `[${name.replace(/\(\d+\)$/, "").trim() || "Array"}]`;
  }
  const lines = entries(indentation + 2);
  const text = joined(prefix, open, close as string, lines, frame, indentation, isList);
  const number = frame.circular.get(value);
  return number === undefined ? text : `<ref *${number}> ${text}`;
}

function joined(
  prefix: string,
  open: string,
  close: string,
  lines: readonly string[],
  { options }: Frame,
  indentation: number,
  isList: boolean,
): string {
  const start = prefix === "" ? open : `${prefix} ${open}`;
  if (lines.length === 0) return `${start}${close}`;
  const width = lines.reduce((sum, line) => sum + line.length, lines.length + start.length);
  const isShort = width + lines.length <= Math.min(options.breakLength ?? 80, 76) && !isList;
  if ((isShort || options.breakLength === Number.POSITIVE_INFINITY) && !lines.some((line) => line.includes("\n")))
    return `${start} ${lines.join(", ")} ${close}`;
  const indent = " ".repeat(indentation);
  return `${start}\n${indent}  ${lines.join(`,\n${indent}  `)}\n${indent}${close}`;
}

interface Parts {
  readonly prefix: string;
  /** Undefined when the value has no parts. */
  readonly open?: string;
  readonly close?: string;
  readonly isList: boolean;
  entries(indentation: number): string[];
}

function partsOf(value: object, frame: Frame): Parts {
  const name = classNameOf(value);
  const named = (usual: string) => (name === null ? `[${usual}: null prototype]` : name === usual ? "" : name);
  const properties = (indentation: number, skip: (key: string) => boolean = () => false) =>
    propertiesOf(value, frame, indentation, skip);
  const bare = (text: string): Parts => {
    const has = keysOf(value, frame).length > 0;
    return has
      ? { prefix: text, open: "{", close: "}", isList: false, entries: properties }
      : { prefix: text, isList: false, entries: () => [] };
  };
  const isIndex = (key: string) => /^(0|[1-9]\d*)$/.test(key);
  if (Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))) {
    const list = value as unknown as ArrayLike<unknown>;
    const prefix = Array.isArray(value) && name === "Array" ? "" : `${name ?? "Array"}(${list.length})`;
    const entries = (indentation: number) => [
      ...elementsOf(list, frame, indentation),
      ...properties(indentation, isIndex),
    ];
    return { prefix, open: "[", close: "]", isList: list.length > 6 && JSON.stringify(list).length > 76, entries };
  }
  if (value instanceof Map) {
    const entries = (indentation: number) => [
      ...[...value].map(([key, each]) => `${shown(key, frame, indentation)} => ${shown(each, frame, indentation)}`),
      ...properties(indentation),
    ];
    return { prefix: `${name ?? "Map"}(${value.size})`, open: "{", close: "}", isList: false, entries };
  }
  if (value instanceof Set) {
    const entries = (indentation: number) => [
      ...[...value].map((each) => shown(each, frame, indentation)),
      ...properties(indentation),
    ];
    return { prefix: `${name ?? "Set"}(${value.size})`, open: "{", close: "}", isList: false, entries };
  }
  if (typeof value === "function") {
    const isClass = /^class\b/.test(Function.prototype.toString.call(value));
    const kind = isClass ? "class" : (name ?? "Function");
    const own = value.name === "" ? "(anonymous)" : value.name;
    return bare(isClass ? `[class ${own}]` : `[${kind}${value.name === "" ? ` ${own}` : `: ${own}`}]`);
  }
  if (value instanceof Error) {
    const stack = typeof value.stack === "string" && value.stack !== "" ? value.stack : "";
    const title = `${value.name}${value.message === "" ? "" : `: ${value.message}`}`;
    // Engines differ in whether a stack begins with the error.
    return bare(stack.startsWith(value.name) ? stack : stack === "" ? `[${title}]` : `${title}\n${stack}`.trimEnd());
  }
  if (value instanceof RegExp) return bare(String(value));
  if (value instanceof Date) return bare(Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString());
  if (value instanceof Promise) return { ...bare("Promise"), prefix: "Promise", open: "{", close: "}" };
  if (value instanceof WeakMap || value instanceof WeakSet) return bare(`${name} { <items unknown> }`);
  if (value instanceof Number || value instanceof Boolean || value instanceof BigInt || value instanceof Symbol)
    return bare(`[${name}: ${shown(value.valueOf(), frame, 0)}]`);
  if (value instanceof String) {
    return { ...bare(`[String: ${quoted(String(value))}]`), entries: (at) => properties(at, isIndex) };
  }
  return { prefix: named("Object"), open: "{", close: "}", isList: false, entries: properties };
}

function classNameOf(value: object): string | null {
  for (let at: object | null = value; at !== null; at = Object.getPrototypeOf(at)) {
    const own = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
    if (typeof own === "function" && own.name !== "" && value instanceof own) return own.name;
  }
  return null;
}

function elementsOf(list: ArrayLike<unknown>, frame: Frame, indentation: number): string[] {
  const most = Math.min(list.length, frame.options.maxArrayLength ?? 100);
  const lines: string[] = [];
  for (let i = 0; i < most; i++) {
    let empty = 0;
    while (i + empty < list.length && !(i + empty in list)) empty++;
    if (empty > 0) lines.push(`<${empty} empty item${empty === 1 ? "" : "s"}>`);
    else lines.push(shown(list[i], frame, indentation));
    if (empty > 0) i += empty - 1;
  }
  const left = list.length - most;
  return left > 0 ? [...lines, `... ${left} more item${left === 1 ? "" : "s"}`] : lines;
}

function keysOf(value: object, { options }: Frame): (string | symbol)[] {
  const keys: (string | symbol)[] = options.showHidden ? Object.getOwnPropertyNames(value) : Object.keys(value);
  if (options.sorted) (keys as string[]).sort(typeof options.sorted === "function" ? options.sorted : undefined);
  const symbols = Object.getOwnPropertySymbols(value).filter(
    (each) => options.showHidden || Object.prototype.propertyIsEnumerable.call(value, each),
  );
  const all = [...keys, ...symbols];
  if (!(value instanceof Error)) return all;
  if (Object.hasOwn(value, "cause") && !all.includes("cause")) all.push("cause");
  return all.filter((key) => !["stack", "message", "fileName", "lineNumber", "columnNumber"].includes(String(key)));
}

function propertiesOf(value: object, frame: Frame, indentation: number, skip: (key: string) => boolean): string[] {
  return keysOf(value, frame)
    .filter((key) => typeof key === "symbol" || !skip(key))
    .map((key) => {
      const { get, set, value: own, enumerable } = Object.getOwnPropertyDescriptor(value, key) as PropertyDescriptor;
      const plain = typeof key === "symbol" ? `[${String(key)}]` : /^[a-z_$][\w$]*$/i.test(key) ? key : quoted(key);
      const name = enumerable || typeof key === "symbol" ? plain : `[${String(key)}]`;
      if (get) return `${name}: ${set ? "[Getter/Setter]" : "[Getter]"}`;
      return `${name}: ${set ? "[Setter]" : shown(own, frame, indentation)}`;
    });
}

/** Formats values. The first may have placeholders for the others (`%s`, `%d`, `%i`, `%f`, `%j`, `%o`, `%O`, `%c`). */
export function format(...args: unknown[]): string {
  return formatWithOptions({}, ...args);
}

/** Does the same as `format`, with options for inspected values. */
export function formatWithOptions(options: InspectOptions, ...args: unknown[]): string {
  const [first, ...rest] = args;
  const plain = (value: unknown) => (typeof value === "string" ? value : inspect(value, options));
  if (typeof first !== "string" || rest.length === 0) return args.map(plain).join(" ");
  let next = 0;
  const text = first.replace(/%[sdifjoOc%]/g, (place) => {
    if (place === "%%") return "%";
    if (next >= rest.length) return place;
    return placed(place, rest[next++], options);
  });
  return [text, ...rest.slice(next).map(plain)].join(" ");
}

function placed(place: string, value: unknown, options: InspectOptions): string {
  switch (place) {
    case "%s":
      if (typeof value === "bigint") return `${value}n`;
      if (Object.is(value, -0)) return "-0";
      if (typeof value !== "object" || value === null) return String(value);
      return hasOwnText(value) ? String(value) : inspect(value, { ...options, depth: 0 });
    case "%d":
      if (typeof value === "bigint") return `${value}n`;
      return typeof value === "symbol" || typeof value === "object" ? "NaN" : inspect(Number(value));
    case "%i":
      if (typeof value === "bigint") return `${value}n`;
      return typeof value === "symbol" || typeof value === "object"
        ? "NaN"
        : inspect(Number.parseInt(String(value), 10));
    case "%f":
      return typeof value === "symbol" ? "NaN" : inspect(Number.parseFloat(String(value)));
    case "%j":
      return json(value);
    case "%o":
      return inspect(value, { ...options, showHidden: true, depth: 4 });
    case "%O":
      return inspect(value, { ...options });
    default:
      return "";
  }
}

/** Returns whether an object's class, other than a built-in one, defines its text. */
function hasOwnText(value: object): boolean {
  if (value instanceof Error || value instanceof Date) return true;
  const { toString } = value;
  return typeof toString === "function" && !builtInTexts.has(toString);
}
const builtInTexts = new Set<unknown>([Object.prototype.toString, Array.prototype.toString, RegExp.prototype.toString]);

function json(value: unknown): string {
  try {
    return String(JSON.stringify(value));
  } catch (error) {
    if (error instanceof TypeError && /circular|cyclic/i.test(error.message)) return "[Circular]";
    throw error;
  }
}
