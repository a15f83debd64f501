/** `fetch` and its classes, over the streamed calls of the host. The SDK finds those by a key (`ts-sdk/src/platform.ts`). */

import { cancelStream, readStream, startStream, streamHead, streamRoom, writeStream } from "tenon:engine";
import { callStreamsKey } from "@tenon/sdk/abi";
import "@tenon/sdk/fetch-classes";

const { Object } = globalThis;

Object.defineProperty(globalThis, callStreamsKey, {
  value: Object.freeze({
    start: startStream,
    head: streamHead,
    read: readStream,
    write: writeStream,
    room: streamRoom,
    cancel: cancelStream,
  }),
});
