/** Descriptions of keys: the type of value, the default, the meaning. */
import type { Kind } from "./kinds.ts";

/** A key: its type of value and its meaning. */
export interface Key<T, P extends "required" | "default" | "optional" = "required" | "default" | "optional"> {
  readonly kind: Kind<T>;
  readonly presence: P;
  /** The value when the file has none. */
  readonly default?: T;
  /** Markdown, one paragraph. */
  readonly docs: string;
  /** Why a value of the right kind cannot be taken; undefined when it can. */
  problem?(value: T): string | undefined;
  /** The same rule for editors, in JSON Schema, beside that of the kind. */
  readonly rule?: Readonly<Record<string, unknown>>;
  /** Keeps the line of the file out of errors, because it may hold a secret by mistake. */
  readonly hidden?: boolean | ((value: unknown) => boolean);
}

/** A section whose keys are known. */
export interface Section<K = Readonly<Record<string, Key<unknown>>>> {
  readonly docs: string;
  readonly keys: K;
}

/** A section whose keys are the user's own names. */
export interface OpenSection<T = unknown> {
  readonly docs: string;
  /** The names of its keys; the reference shows one as `<placeholder>`. */
  readonly names: {
    readonly placeholder: string;
    readonly pattern: RegExp;
    readonly description: string;
    /** Why names that are fine each by itself can't stand together, the last being the one too many. */
    together?(names: readonly string[]): string | undefined;
  };
  readonly values: Key<T, "optional">;
}

/**
 * A section of tables under the user's own names, each with the same known keys, `[queues.mail]`, and perhaps with sections of
 * its own, `[modules.shop.env]`.
 */
export interface TableSection<
  K = Readonly<Record<string, Key<unknown>>>,
  S = Readonly<Record<string, Section | OpenSection>>,
> {
  readonly docs: string;
  readonly names: OpenSection["names"];
  readonly each: K;
  /** Sections in each table. One that the file leaves out is undefined. */
  readonly within?: S;
}

/** Each key's value under its name in camel case; sections of the user's own names as records. */
export type ConfigOf<S> = {
  readonly [N in keyof S]: S[N] extends Section<infer K>
    ? Values<K>
    : S[N] extends OpenSection<infer T>
      ? Readonly<Record<string, T>>
      : S[N] extends TableSection<infer K, infer W>
        ? Readonly<Record<string, Values<K> & { readonly [M in keyof W]?: ConfigOf<W>[M] }>>
        : never;
};

type Values<K> = {
  readonly [N in keyof K as K[N] extends { readonly presence: "optional" } ? never : CamelCase<N>]: ValueOf<K[N]>;
} & {
  readonly [N in keyof K as K[N] extends { readonly presence: "optional" } ? CamelCase<N> : never]?: ValueOf<K[N]>;
};

type ValueOf<K> = K extends { readonly kind: Kind<infer T> } ? T : never;

/** The name of a key in camel case. */
export type CamelCase<N> = N extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail> & string>}`
  : N & string;

/** A key of the file as the name of a property: `max_body_bytes` is `maxBodyBytes`. */
export function camelCase(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The key of the file for a property: `maxBodyBytes` is `max_body_bytes`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The environment variable that wins over a key: `TENON_SERVER_PORT`. */
export function variableOf(sectionName: string, key: string): string {
  return `TENON_${sectionName}_${key}`.toUpperCase();
}

/** The valid values of a kind: for people, and for editors. */
interface Rule<T> {
  readonly problem: (value: T) => string | undefined;
  readonly rule: Readonly<Record<string, unknown>>;
  readonly hidden?: boolean | ((value: unknown) => boolean);
}

/** A section of known keys. */
export function section<const K extends Readonly<Record<string, Key<unknown>>>>(docs: string, keys: K): Section<K> {
  return { docs, keys };
}

/** A section of the user's own names. */
export function open<T>(docs: string, names: OpenSection<T>["names"], values: Key<T, "optional">): OpenSection<T> {
  return { docs, names, values };
}

/** A section of tables under the user's own names, with sections in each of them. */
export function tables<
  const K extends Readonly<Record<string, Key<unknown>>>,
  // biome-ignore lint/complexity/noBannedTypes: no sections at all
  const S extends Readonly<Record<string, Section | OpenSection>> = {},
>(docs: string, names: OpenSection["names"], each: K, within?: S): TableSection<K, S> {
  return { docs, names, each, ...(within !== undefined && { within }) };
}

/** A key that every file has. */
export function required<T>(kind: Kind<T>, docs: string, rule?: Rule<T>): Key<T, "required"> {
  return { kind, presence: "required", docs, ...rule };
}

/** A key that may be left out, and has no value then. */
export function optional<T>(kind: Kind<T>, docs: string, rule?: Rule<T>): Key<T, "optional"> {
  return { kind, presence: "optional", docs, ...rule };
}

/** A key that has a value when it is left out. */
export function withDefault<T>(kind: Kind<T>, value: NoInfer<T>, docs: string, rule?: Rule<T>): Key<T, "default"> {
  return { kind, presence: "default", default: value, docs, ...rule };
}
