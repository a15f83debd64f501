/** The first text of an isolate in a component: an expression that makes its function, with the parser of types. */
import { start } from "@tenon/sdk/code-mode-program";
import { strip } from "./strip.ts";

export default (evaluate: Parameters<typeof start>[0]) => start(evaluate, strip);
