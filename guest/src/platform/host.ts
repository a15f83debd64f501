/**
 * Connects the SDK with the engine: the SDK finds the engine's functions by keys (`ts-sdk/src/abi.ts`). The module runs
 * before all others, and the top level runs while `buildingKey` is set.
 */

import { cancelCall, jsonWriter, origin, startCall, variables } from "tenon:engine";
import {
  buildingKey,
  callStreamsKey,
  callsKey,
  cancelKey,
  jsonWriterKey,
  originKey,
  variablesKey,
} from "@tenon/sdk/abi";
import { callStreams } from "./call-streams.ts";

export { getEnvironment } from "tenon:engine";

const { Reflect } = globalThis;

const set = (key: symbol, value: unknown) => Reflect.set(globalThis, key, value);

set(buildingKey, new Map());
set(callsKey, startCall);
set(cancelKey, cancelCall);
set(callStreamsKey, callStreams);
set(variablesKey, variables);
set(originKey, origin);
set(jsonWriterKey, jsonWriter);
