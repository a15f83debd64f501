/** Bodies of requests that arrive piece by piece. */
import { BODY, BODY_WHOLE, streamKey, uploadKey } from "../abi.ts";
import { encodeUtf8, platform, type RawHandler, type Uploads } from "../platform.ts";
import type { ArrivingBody, RawResponse } from "../raw.ts";
import { soon } from "./pieces.ts";

/**
 * Request bodies that arrive while the handler runs (`wit/streams.wit`). The host calls the
 * component again with each part that the handler waits for.
 */

/**
 * The turns of the microtask queue that a handler has to answer before the host is asked for more of the body. There
 * are more than for `readAhead` (`fetch/answer-body.ts`), whose body may be this one.
 */
const TURNS = 128;

/** The interval at which the handler's timers get a turn, however fast the body arrives, in milliseconds. */
const TIMERS_MS = 100;

/** An answer that asks for the next piece of the body, and one that asks for the rest. */
const WAITS: RawResponse = Object.freeze({ status: 100, headers: Object.freeze([]) });
const WAITS_WHOLE: RawResponse = Object.freeze({
  status: 100,
  headers: Object.freeze([[BODY, encodeUtf8(BODY_WHOLE)] as const]),
});

/** The answer to a call about an exchange that is over. */
const OVER: RawResponse = Object.freeze({ status: 500, headers: Object.freeze([]) });

interface Read {
  resolve(piece: Uint8Array | undefined): void;
  reject(reason: Error): void;
}

/** The body of a request, from the host's calls. */
export class Upload implements ArrivingBody {
  #read: Read | undefined;
  #waits: RawResponse = WAITS;
  #isEnded = false;
  #failure: Error | undefined;
  /** Reports that the handler waits for the body. */
  #notify: () => void = () => {};

  /** The answer to the host while the handler waits for the body; otherwise `undefined`. */
  get waits(): RawResponse | undefined {
    return this.#read && this.#waits;
  }

  next(): Promise<Uint8Array | undefined> {
    return this.#ask(WAITS);
  }

  async rest(): Promise<Uint8Array> {
    return (await this.#ask(WAITS_WHOLE)) ?? new Uint8Array();
  }

  /** Passes a piece, or the end, to the waiting handler. */
  give(piece: Uint8Array | undefined): void {
    const read = this.#read;
    this.#read = undefined;
    this.#isEnded = piece === undefined;
    read?.resolve(piece);
  }

  /** Breaks the body off. */
  fail(): void {
    const read = this.#read;
    this.#read = undefined;
    this.#failure = new Error("the request's body broke off");
    read?.reject(this.#failure);
  }

  /** Sets a callback for when the handler begins to wait for the body. */
  onWait(notify: () => void): void {
    this.#notify = notify;
  }

  async #ask(waits: RawResponse): Promise<Uint8Array | undefined> {
    if (this.#failure) throw this.#failure;
    if (this.#isEnded) return undefined;
    if (this.#read) throw new TypeError("the request's body is being read already");
    this.#waits = waits;
    const piece = new Promise<Uint8Array | undefined>((resolve, reject) => {
      this.#read = { resolve, reject };
    });
    this.#notify();
    return piece;
  }
}

/** An exchange whose request body has not arrived yet. */
class Exchange {
  readonly upload: Upload;
  /** The answer to the open call, and whether it is ready. */
  #answer!: Promise<RawResponse>;
  #isSettled = false;
  /** True while a response is streamed. */
  #isStreaming = false;
  /** Reports that the answer is ready. */
  #notify: () => void = () => {};
  /** The time at which timers had their last turn. */
  #turned = Date.now();

  constructor(upload: Upload, answer: ReturnType<RawHandler>) {
    this.upload = upload;
    this.expect(answer);
  }

  /** Keeps a call of the host's open until its answer is ready. */
  expect(answer: ReturnType<RawHandler>): void {
    const settle = () => {
      this.#isSettled = true;
      this.#notify();
    };
    this.#isSettled = false;
    this.#answer = Promise.resolve(answer);
    this.#answer.then(settle, settle);
  }

  /** Gives the handler's timers a turn, after an interval or when there is nothing else to do. */
  async turn(isIdle: boolean): Promise<void> {
    if (!isIdle && Date.now() - this.#turned < TIMERS_MS) return;
    await new Promise<void>((resolve) => platform.setTimeout(resolve, 0));
    this.#turned = Date.now();
  }

  /** Waits for the answer to the open call, or until the handler waits for the body. */
  async wait(): Promise<RawResponse> {
    const { upload } = this;
    while (!this.#isSettled) {
      const waits = upload.waits;
      if (waits) {
        // The handler may answer without reading the body.
        if (!(await soon(this.#answer, TURNS))) return upload.waits ?? waits;
        break;
      }
      await new Promise<void>((resolve) => {
        this.#notify = resolve;
        upload.onWait(resolve);
      });
    }
    const given = await this.#answer;
    const { status, headers } = given;
    if (!this.#isStreaming) this.#isStreaming = headers.at(-1)?.[0] === BODY;
    else if (status !== 200 && status !== 202) this.#isStreaming = false;
    if (!this.#isStreaming) open = undefined;
    return given;
  }
}

/** The exchange of this instance: one at a time, so an abandoned one is dropped here. */
let open: Exchange | undefined;

const uploads: Uploads = {
  begin({ method, pathWithQuery, headers }, handle) {
    const upload = new Upload();
    // Read before the handler runs, because the host takes the request's memory back with the next call.
    open = new Exchange(upload, handle({ method, pathWithQuery, headers, upload }));
    return open.wait();
  },
  piece: (bytes) =>
    goOn(bytes === undefined, (upload) => {
      // A component's bindings are of another realm, whose Uint8Array is not the handler's.
      if (bytes !== undefined) upload.give(new Uint8Array(bytes));
    }),
  end: () => goOn(false, (upload) => upload.give(undefined)),
  broken: () => goOn(false, (upload) => upload.fail()),
  async next() {
    const stream = platform[streamKey];
    if (stream === undefined) return OVER;
    // No exchange is open when the request was complete.
    if (!open) return stream.next();
    open.expect(stream.next());
    return open.wait();
  },
  async cancel() {
    // Cleaning up code must not wait for a client that has gone away.
    open?.upload.fail();
    open = undefined;
    await platform[streamKey]?.cancel();
  },
};

/** Has the host stream the bodies of long requests to this component. */
export function takeUploads(): void {
  platform[uploadKey] = uploads;
}

/** Passes a part of the body to the open exchange. */
async function goOn(isIdle: boolean, give: (upload: Upload) => void): Promise<RawResponse> {
  if (!open) return OVER;
  const exchange = open;
  give(exchange.upload);
  await exchange.turn(isIdle);
  return exchange.wait();
}
