import { parse, type TomlTable, type TomlValue } from "smol-toml";
import { TenonError } from "../errors.ts";

/** What `tenon.toml` says, with its defaults. */
export interface Config {
  readonly project: { readonly name: string; readonly version: string };
  readonly server: ServerConfig;
  readonly composition: { readonly httpHandler: boolean; readonly bridge?: string };
  /** Addresses by name. */
  readonly sidecars: Readonly<Record<string, string>>;
  /** Environment variables of the module. */
  readonly env: Readonly<Record<string, string>>;
}

/** `[server]`. What is left out has the runtime's own default. */
export interface ServerConfig {
  readonly host: string;
  readonly port: number;
  readonly requestTimeoutMs?: number;
  readonly maxBodyBytes?: number;
  readonly memoryLimitBytes?: number;
  readonly maxConcurrent?: number;
  readonly shutdownTimeoutMs?: number;
}

/** Where a server listens when nothing else is said. */
export const defaultServer: ServerConfig = { host: "127.0.0.1", port: 3000 };

/**
 * Parses `tenon.toml`.
 *
 * @param file the path to name in errors
 * @throws TenonError `CONFIG`, naming file, key and, where TOML itself is wrong, line and column
 */
export function parseConfig(text: string, file: string): Config {
  const root = new Section(parseToml(text, file), "", file);
  const project = root.section("project");
  const server = root.section("server");
  const composition = root.section("composition");
  const outbound = root.section("outbound");
  const bridge = composition.optional("bridge", string);
  refuseUnsupported(server, outbound);
  const config: Config = {
    project: { name: project.required("name", string), version: project.optional("version", string) ?? "0.0.0" },
    server: {
      host: server.optional("host", string) ?? defaultServer.host,
      port: server.optional("port", wholeNumber(0, 65_535)) ?? defaultServer.port,
      ...given("requestTimeoutMs", server.optional("request_timeout_ms", wholeNumber(1, 3_600_000))),
      ...given("maxBodyBytes", server.optional("max_body_bytes", wholeNumber(0, 4_294_967_296))),
      ...given("memoryLimitBytes", server.optional("memory_limit_bytes", wholeNumber(1_048_576, 4_294_967_296))),
      ...given("maxConcurrent", server.optional("max_concurrent", wholeNumber(1, 10_000))),
      ...given("shutdownTimeoutMs", server.optional("shutdown_timeout_ms", wholeNumber(0, 3_600_000))),
    },
    composition: {
      httpHandler: composition.optional("http_handler", boolean) ?? true,
      ...(bridge === undefined ? {} : { bridge }),
    },
    sidecars: root.section("sidecars").all(string),
    env: root.section("env").all(string),
  };
  for (const section of [root, project, server, composition, outbound]) section.refuseUnknown();
  return config;
}

/** Keys whose other values this version cannot honour: to pass over them would run a module otherwise than was asked. */
function refuseUnsupported(server: Section, outbound: Section): void {
  server.optional("isolation", {
    description: '"request": this version serves every request in an instance of its own',
    is: (value): value is "request" => value === "request",
  });
  server.optional("max_reuse", wholeNumber(1, 1_000_000_000));
  outbound.optional("allow", {
    description: "an empty list: this version lets modules call sidecars only",
    is: (value): value is [] => Array.isArray(value) && value.length === 0,
  });
}

function parseToml(text: string, file: string): TomlTable {
  try {
    return parse(text);
  } catch (error) {
    const { line, column } = error as { line?: number; column?: number };
    const [reason = ""] = error instanceof Error ? error.message.split("\n") : [String(error)];
    throw new TenonError("CONFIG", `${file}:${line ?? 1}:${column ?? 1}: ${reason}`);
  }
}

/** What a value must be, in words, and its check. */
interface Expected<T> {
  readonly description: string;
  readonly is: (value: TomlValue) => value is TomlValue & T;
}

const string: Expected<string> = { description: "a text", is: (value): value is string => typeof value === "string" };
const boolean: Expected<boolean> = {
  description: "true or false",
  is: (value): value is boolean => typeof value === "boolean",
};

function wholeNumber(min: number, max: number): Expected<number> {
  return {
    description: `a whole number from ${min} to ${max}`,
    is: (value): value is number =>
      typeof value === "number" && Number.isInteger(value) && value >= min && value <= max,
  };
}

/** A table of the file, read key by key; what is left over at the end is unknown. */
class Section {
  readonly #table: TomlTable;
  readonly #name: string;
  readonly #file: string;
  readonly #known = new Set<string>();

  constructor(table: TomlTable, name: string, file: string) {
    this.#table = table;
    this.#name = name;
    this.#file = file;
  }

  section(name: string): Section {
    const value = this.#take(name) ?? {};
    if (typeof value !== "object" || Array.isArray(value) || value instanceof Date) {
      throw new TenonError("CONFIG", `${this.#file}: ${name} must be a table, [${name}]`);
    }
    return new Section(value as TomlTable, name, this.#file);
  }

  required<T>(key: string, expected: Expected<T>): T {
    const value = this.optional(key, expected);
    if (value === undefined) {
      throw new TenonError(
        "CONFIG",
        `${this.#file}: ${this.#path(key)} is missing: it must be ${expected.description}`,
      );
    }
    return value;
  }

  optional<T>(key: string, expected: Expected<T>): T | undefined {
    const value = this.#take(key);
    return value === undefined ? undefined : this.#check(key, value, expected);
  }

  all<T>(expected: Expected<T>): Record<string, T> {
    return Object.fromEntries(
      Object.entries(this.#table).map(([key, value]) => [key, this.#check(key, value, expected)]),
    );
  }

  refuseUnknown(): void {
    const unknown = Object.keys(this.#table).find((key) => !this.#known.has(key));
    if (unknown !== undefined) {
      const known = [...this.#known].map((key) => this.#path(key)).join(", ");
      throw new TenonError("CONFIG", `${this.#file}: unknown key ${this.#path(unknown)}`, `known here: ${known}`);
    }
  }

  #take(key: string): TomlValue | undefined {
    this.#known.add(key);
    return Object.hasOwn(this.#table, key) ? this.#table[key] : undefined;
  }

  #check<T>(key: string, value: TomlValue, expected: Expected<T>): T {
    if (expected.is(value)) return value;
    throw new TenonError("CONFIG", `${this.#file}: ${this.#path(key)} must be ${expected.description}`);
  }

  #path(key: string): string {
    return this.#name === "" ? key : `${this.#name}.${key}`;
  }
}

function given<K extends string, T>(key: K, value: T | undefined): { [P in K]?: T } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: T };
}
