/** The functions of streamed calls, by the names that the SDK uses (`ts-sdk/src/platform.ts`). */
import { cancelStream, readStream, startStream, streamHead, streamRoom, writeStream } from "tenon:engine";

export const callStreams = {
  start: startStream,
  head: streamHead,
  read: readStream,
  write: writeStream,
  room: streamRoom,
  cancel: cancelStream,
};
