/** The child process of `engine.ts` that compiles: the memory that it takes is given back when it ends. */
import { fromNative, native } from "../native.ts";
import { answerParent } from "./child.ts";
import type { PrepareRequest } from "./engine.ts";

answerParent<PrepareRequest, object>(async (request) => {
  const { QuickjsEngine, SnapshotEngine, SpecializableEngine } = native();
  const { folder } = request;
  if (request.step === "quickjs") {
    await fromNative(QuickjsEngine.prepare(folder, request.full));
    const engine = await fromNative(QuickjsEngine.open(folder, request.full));
    if (engine) await fromNative(engine.precompile(request.cache));
    return {};
  }
  const { key } = request;
  if (request.step === "serving") {
    const engine = await fromNative(SnapshotEngine.open(folder, key));
    if (engine) await fromNative(engine.precompile(request.cache));
    return {};
  }
  const prepare = {
    snapshot: SnapshotEngine.prepare,
    shipped: SnapshotEngine.prepareShipped,
    specializable: SpecializableEngine.prepare,
  }[request.kind];
  const { spliced, stubbed, adapter, bindings, environment } = request.spliced;
  await fromNative(
    prepare(folder, key, {
      engine: request.engine,
      spliced: Buffer.from(spliced),
      stubbed: Buffer.from(stubbed),
      adapter: Buffer.from(adapter),
      bindings,
      environment: [...environment],
    }),
  );
  return {};
});
