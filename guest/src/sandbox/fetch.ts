/** `fetch` and its classes, over the streamed calls of the host. The SDK finds those by a key (`ts-sdk/src/platform.ts`). */
import { callStreamsKey } from "@tenon/sdk/abi";
import { callStreams } from "../platform/call-streams.ts";
import "@tenon/sdk/fetch-classes";

const { Object } = globalThis;
const { apply } = Reflect;
const { replace } = String.prototype;

/** The host's words for a refused address, which name the file of a server's settings. */
const OF_SERVERS = "it is neither in [sidecars] nor in [outbound] allow of tenon.toml";
const OF_SANDBOXES = "it is not in `outbound.allow` of the sandbox";

/** The calls, with errors in the words of a sandbox's options. */
const calls: typeof callStreams = {
  ...callStreams,
  head: async (call) => {
    const outcome = await callStreams.head(call);
    if (!("reason" in outcome)) return outcome;
    return { ...outcome, detail: apply(replace, outcome.detail, [OF_SERVERS, OF_SANDBOXES]) };
  },
};

Object.defineProperty(globalThis, callStreamsKey, { value: Object.freeze(calls) });
