/** The embedding API of Tenon: the runtime inside a Node program. */
export { type ErrorCode, TenonError } from "./errors.ts";
export { version } from "./package.ts";
export { type Listening, type ListenOptions, Runtime, type RuntimeOptions } from "./runtime.ts";
