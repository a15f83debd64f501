import { fromNative, native } from "../native.ts";
import { preparedEngine } from "./engine.ts";

/** A bundle without a handler module and without the SDK. */
const bundle = "export const handler = { handle: () => ({ status: 204, headers: [] }) };";

/** The variable from which the engine's clock and seeds follow (`crates/snapshot/src/run.rs`). */
const time = "SOURCE_DATE_EPOCH";

/**
 * Builds the component with which all others of this version have most of their bytes in common: the engine with its memory, and
 * nothing of anyone's. All machines build the same, whatever time the user's own builds have.
 *
 * @returns undefined when the engine would have to be prepared first
 */
export async function baseComponent(): Promise<Buffer | undefined> {
  const engine = await preparedEngine();
  if (engine === undefined) return undefined;
  const before = process.env[time];
  process.env[time] = "0";
  try {
    const { component } = await fromNative(engine.build("base.js", Buffer.from(bundle), [], []));
    return await fromNative(native().compose(component));
  } finally {
    if (before === undefined) delete process.env[time];
    else process.env[time] = before;
  }
}
