/**
 * Standard Schema v1 (https://standardschema.dev): the interface that schema libraries share. Tenon's own schemas
 * implement it, and `path`, `query` and `body` accept any schema that does.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": StandardProps<Input, Output>;
}

/** The members under `~standard`. */
export interface StandardProps<Input = unknown, Output = Input> {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
}

/** A validated value, or its issues. */
export type StandardResult<Output> = StandardSuccess<Output> | StandardFailure;

/** The validated value. */
export interface StandardSuccess<Output> {
  readonly value: Output;
  readonly issues?: undefined;
}

/** The issues of a value. */
export interface StandardFailure {
  readonly issues: readonly StandardIssue[];
}

/** One issue and its place. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of a schema's output: `Infer<typeof User>`. */
export type Infer<S extends StandardSchema<never, unknown> | StandardSchema> = NonNullable<
  S["~standard"]["types"]
>["output"];

/** The type of a schema's input. */
export type InferInput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"];
