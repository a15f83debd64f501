/** Adds the names of functions to the source map of a release. */
import { eachMapping, TraceMap } from "@jridgewell/trace-mapping";

/** The text before and after the name of a function in its definition. */
const defined = /(?:function\*?\s+|class\s+)$/;
const assigned = /^=(?:async\s*)?(?:function|\(|[\w$]+=>|class)/;
const identifier = /[\w$]+/y;

/**
 * A source map with the names of functions that the bundle has shortened, as `x_functions`: the engine's stacks have
 * the short ones. A name of several functions is left out.
 *
 * @param text the source map
 * @param bundle the mapped code
 */
export function withFunctionNames(text: string, bundle: string): string {
  const lines = bundle.split("\n");
  const names = new Map<string, string | undefined>();
  eachMapping(new TraceMap(text), ({ name, generatedLine, generatedColumn }) => {
    const line = lines[generatedLine - 1];
    if (name === null || line === undefined) return;
    identifier.lastIndex = generatedColumn;
    const short = identifier.exec(line)?.[0];
    if (short === undefined) return;
    const before = line.slice(Math.max(0, generatedColumn - 16), generatedColumn);
    const behind = line.slice(identifier.lastIndex, identifier.lastIndex + 32);
    if (!defined.test(before) && !assigned.test(behind)) return;
    names.set(short, !names.has(short) || names.get(short) === name ? name : undefined);
  });
  const known = [...names].filter(([short, name]) => name !== undefined && name !== short);
  return JSON.stringify({ ...JSON.parse(text), x_functions: Object.fromEntries(known) });
}
