/**
 * Connects the SDK with the engine: the SDK finds the engine's functions by keys (`ts-sdk/src/platform.ts`). The module runs
 * before all others, and the top level runs while `tenon.building` is set.
 */
import {
  cancelCall,
  cancelStream,
  origin,
  readStream,
  startCall,
  startStream,
  streamHead,
  streamRoom,
  variables,
  writeStream,
} from "tenon:engine";

export { getEnvironment } from "tenon:engine";

const { Reflect, Symbol } = globalThis;

const set = (key: string, value: unknown) => Reflect.set(globalThis, Symbol.for(key), value);

set("tenon.building", new Map());
set("tenon.calls", startCall);
set("tenon.cancel", cancelCall);
set("tenon.call-streams", {
  start: startStream,
  head: streamHead,
  read: readStream,
  write: writeStream,
  room: streamRoom,
  cancel: cancelStream,
});
set("tenon.variables", variables);
set("tenon.origin", origin);
