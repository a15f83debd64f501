/** The functions of `sdk:core/streams` (`wit/streams.wit`), which a component exports beside `handle`. */
import { streamKey, uploadKey } from "@tenon/sdk/abi";

interface Response {
  readonly status: number;
  readonly headers: readonly never[];
}
type AwaitableResponse = Response | Promise<Response>;
type Handle = (request: object) => AwaitableResponse;

/** The stream of a response that an instance is sending. */
interface OpenStream {
  next(): AwaitableResponse;
  cancel(): void | Promise<void>;
}

/** Requests whose bodies arrive piece by piece, and the streams of their responses. */
interface Uploads extends OpenStream {
  begin(request: object, handle: Handle): AwaitableResponse;
  piece(bytes: Uint8Array | undefined): AwaitableResponse;
  end(): AwaitableResponse;
  broken(): AwaitableResponse;
}

const scope = globalThis as { readonly [streamKey]?: OpenStream; readonly [uploadKey]?: Uploads };

/** The answer to a call about an exchange that is over. */
const over = { status: 500, headers: [] };

/**
 * Makes the functions. The SDK sets its globals only in components that stream.
 *
 * @param handle answers a request
 */
export const streamsOf = (handle: Handle) => ({
  takesBodies: () => scope[uploadKey] !== undefined,
  begin: (request: object) => scope[uploadKey]?.begin(request, handle) ?? over,
  piece: (bytes: Uint8Array | undefined) => scope[uploadKey]?.piece(bytes) ?? over,
  end: () => scope[uploadKey]?.end() ?? over,
  broken: () => scope[uploadKey]?.broken() ?? over,
  next: () => (scope[uploadKey] ?? scope[streamKey])?.next() ?? over,
  cancel: () => (scope[uploadKey] ?? scope[streamKey])?.cancel(),
});
