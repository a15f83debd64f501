/**
 * Connects the SDK with the engine: the SDK finds the engine's functions by keys (`ts-sdk/src/abi.ts`). The module runs
 * before all others, and the top level runs while `buildingKey` is set.
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
import { buildingKey, callStreamsKey, callsKey, cancelKey, originKey, variablesKey } from "@tenon/sdk/abi";

export { getEnvironment } from "tenon:engine";

const { Reflect } = globalThis;

const set = (key: symbol, value: unknown) => Reflect.set(globalThis, key, value);

set(buildingKey, new Map());
set(callsKey, startCall);
set(cancelKey, cancelCall);
set(callStreamsKey, {
  start: startStream,
  head: streamHead,
  read: readStream,
  write: writeStream,
  room: streamRoom,
  cancel: cancelStream,
});
set(variablesKey, variables);
set(originKey, origin);
