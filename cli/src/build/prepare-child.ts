/** The child process of `engine.ts` that compiles: the memory that it takes is given back when it ends. */
import { fromNative, native } from "../native.ts";
import { answerParent } from "./child.ts";
import type { PrepareRequest } from "./engine.ts";

answerParent<PrepareRequest, object>(async ({ folder, full, cache }) => {
  const { SnapshotEngine } = native();
  await fromNative(SnapshotEngine.prepare(folder, full));
  const engine = await fromNative(SnapshotEngine.open(folder, full));
  if (engine) await fromNative(engine.precompile(cache));
  return {};
});
