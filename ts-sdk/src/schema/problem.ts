import type { InputError } from "../http/problem.ts";
import { enumOf } from "./enum.ts";
import { FAILURE_CODES } from "./failures.ts";
import { list } from "./list.ts";
import { u32 } from "./number.ts";
import { objectParts, type TypeSchema } from "./object.ts";
import { createObject, createSchema, type Schema } from "./schema.ts";
import { string } from "./string.ts";

/** Problem details (RFC 9457) as a declared body: extension members may be beside these. */
export interface Problem {
  /** A URI that names the kind of problem; `about:blank` when the status is enough. */
  type: string;
  /** A short summary of the kind of problem. */
  title: string;
  /** The status code of the answer. */
  status: number;
  /** An explanation of this occurrence. */
  detail?: string;
  /** A URI that names this occurrence. */
  instance?: string;
  /** The failures of an input that is not valid. */
  errors?: InputError[];
}

const Failed = createObject("Type", "type", "InputError", {
  in: enumOf("path", "query", "header", "body"),
  pointer: string(),
  code: enumOf(...FAILURE_CODES),
  detail: string(),
}) as Schema<InputError, "required">;

const parts = objectParts("Type", "type", "Problem", {
  type: string({ docs: "A URI that names the kind of problem" }),
  title: string(),
  status: u32({ min: 100, max: 599 }),
  detail: string().optional(),
  instance: string().optional(),
  errors: list(Failed).optional() as Schema,
});

/** The `Type` of problem details, for `responses: { 404: Problem }`. Extension members are sent as well. */
export const Problem = createSchema("Type Problem", { ...parts, extra: { ...parts.extra, open: true } }) as TypeSchema<
  Problem,
  "required",
  never
>;
