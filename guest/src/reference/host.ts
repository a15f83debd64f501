/**
 * Connects the SDK with the engine of componentize-js (`tenon build --reference`), as `../platform/host.ts` does with Tenon's.
 * Without functions for calls, the SDK makes them by the engine's `fetch`. The other globals are the engine's own.
 */
import { buildingKey } from "@tenon/sdk/abi";

export { getEnvironment } from "wasi:cli/environment@0.2.10";

Reflect.set(globalThis, buildingKey, new Map());
