/** `fetch` and its classes, over the streamed calls of the host. The SDK finds those by a key (`ts-sdk/src/platform.ts`). */
import { callStreamsKey } from "@tenon/sdk/abi";
import { callStreams } from "../platform/call-streams.ts";
import "@tenon/sdk/fetch-classes";

Object.defineProperty(globalThis, callStreamsKey, { value: Object.freeze({ ...callStreams }) });
