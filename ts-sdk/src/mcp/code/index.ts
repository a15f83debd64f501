/** Code mode, for the entry of a bundle and for `testApp`. @internal */
export { codeMode } from "./code-mode.ts";
export type { FromIsolate, Isolate, OpenIsolate, ProgramError, ToIsolate } from "./types.ts";
