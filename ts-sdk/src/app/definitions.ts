/** Types of definitions: routes and groups by name, and the context that their handlers need. */
import type { Lacks } from "../middleware/types.ts";
import type { Paths, Route } from "../routing/operation.ts";
import type { Around } from "../routing/step.ts";

/** The definitions that `routes` and `group` take: routes and groups by name. */
export type Definitions = Readonly<Record<string, AnyRoute | AnyGroup>>;

/** A route whose handler may ask for any context. */
export type AnyRoute = Route<Paths, unknown, never>;
/** A group whose handlers may ask for any context. */
export type AnyGroup = Group<unknown, never>;

/** Adds definitions to an app, behind a name and a prefix, and with middleware around them. */
export type AddDefinitions = (all: Definitions, before: string, prefix: string, use: readonly Around[]) => void;

/**
 * Routes under a common prefix, from `group`. The type arguments exist for the type checker alone: the definitions, the
 * context that handlers ask for and no middleware of the group adds, and the values of the prefix's placeholders.
 */
export interface Group<out D = unknown, in Needs = unknown, out Path = unknown> {
  readonly prefix: string;
  readonly definitions: Definitions;
  /** The middleware around its routes, the outermost first. */
  readonly use: readonly Around[];
  /** Adds its routes to an app. The code is here so that an app without groups does not contain it. @internal */
  enter(add: AddDefinitions, name: string, before: string, outer: readonly Around[]): void;
  /** Never set: it carries the types. */
  readonly "~types"?: { readonly definitions: D; readonly needs: (context: Needs) => void; readonly path: Path };
}

/** The context that a route or a group needs. */
type NeedsOfOne<T> =
  NonNullable<T extends { readonly "~types"?: infer Types } ? Types : never> extends {
    readonly needs: (context: infer Needs) => void;
  }
    ? Needs
    : unknown;

/** Routes and groups that need no more than `Given`. */
type Fitting<Given> = Readonly<Record<string, Route<Paths, unknown, Given> | Group<unknown, Given>>>;

/** The context that all definitions need together. */
export type NeedsOf<D> =
  NonNullable<D[keyof D] extends { readonly "~types"?: infer T } ? T : never> extends {
    readonly needs: (context: infer Needs) => void;
  }
    ? Needs
    : unknown;

/** `unknown` when every definition gets the context that it needs, else a type that names the missing context. */
export type Provided<D, Given> =
  D extends Fitting<Given>
    ? unknown
    : string extends keyof D
      ? unknown
      : { readonly [K in keyof D]: [Given] extends [NeedsOfOne<D[K]>] ? unknown : Lacks<NeedsOfOne<D[K]>, Given> };
