import type { RawResponse } from "../app/app.ts";
import { type Answer, platform, type UploadStep, uploadKey } from "../platform.ts";
import { soon } from "./pieces.ts";
import type { RawRequest } from "./request.ts";

/**
 * Request bodies that arrive while the handler runs (`wit/handler.wit`, "Streamed requests"). The host calls the component again
 * with each part that the handler waits for.
 */

/**
 * The turns of the microtask queue that a handler gets to answer before the host is asked for more of the body. They are more than
 * `readAhead` gives the body of an answer (`fetch/answer-body.ts`), which may be this one.
 */
const TURNS = 128;

/** The time after which timers of the handler get a turn, however fast the body arrives, in milliseconds. */
const TIMERS_MS = 100;

/** An answer that waits for the next piece of the body, and one that waits for all that is left. */
const WAITS: RawResponse = Object.freeze({ status: 100, headers: Object.freeze([]) });
const WAITS_WHOLE: RawResponse = Object.freeze({
  status: 100,
  headers: Object.freeze([[":body", new Uint8Array([119, 104, 111, 108, 101])] as const]),
});

const BEGIN = ":begin ";

interface Read {
  resolve(piece: Uint8Array | undefined): void;
  reject(reason: Error): void;
}

/** The body of a request, which the host gives when it is asked for. */
export class Upload {
  #read: Read | undefined;
  #waits: RawResponse = WAITS;
  #isEnded = false;
  #failure: Error | undefined;
  /** Tells that the body is waited for. */
  #notify: () => void = () => {};

  /** The answer to the host while the handler waits for the body; `undefined` when it does not. */
  get waits(): RawResponse | undefined {
    return this.#read && this.#waits;
  }

  /**
   * Waits for the next piece; `undefined` is the end. One piece is asked for at a time.
   *
   * @throws Error when the body breaks off
   */
  next(): Promise<Uint8Array | undefined> {
    return this.#ask(WAITS);
  }

  /**
   * Waits for all that is left, in one piece.
   *
   * @throws Error when the body breaks off, or is larger than the host allows
   */
  async rest(): Promise<Uint8Array> {
    return (await this.#ask(WAITS_WHOLE)) ?? new Uint8Array();
  }

  /** Gives what is waited for: a piece, or the end. */
  give(piece: Uint8Array | undefined): void {
    const read = this.#read;
    this.#read = undefined;
    this.#isEnded = piece === undefined;
    read?.resolve(piece);
  }

  /** Ends the body before its end. */
  fail(): void {
    const read = this.#read;
    this.#read = undefined;
    this.#failure = new Error("the request's body broke off");
    read?.reject(this.#failure);
  }

  /** Calls back when the handler begins to wait for the body. */
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
  /** The answer to the call that was left open, and whether it is there. */
  #answer!: Promise<RawResponse>;
  #isSettled = false;
  /** True while a response that has begun goes on. */
  #isStreaming = false;
  /** Tells that the answer is there. */
  #notify: () => void = () => {};
  /** The time at which timers had their last turn. */
  #turned = Date.now();

  constructor(upload: Upload, answer: ReturnType<Answer>) {
    this.upload = upload;
    this.expect(answer);
  }

  /** Leaves a call of the host's open until its answer is there. */
  expect(answer: ReturnType<Answer>): void {
    const settle = () => {
      this.#isSettled = true;
      this.#notify();
    };
    this.#isSettled = false;
    this.#answer = Promise.resolve(answer);
    this.#answer.then(settle, settle);
  }

  /** Gives the handler's timers a turn, when they had none for a while or nothing else is to be done. */
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
        // The handler may answer without it.
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
    if (!this.#isStreaming) this.#isStreaming = headers.at(-1)?.[0] === ":body";
    else if (status !== 200 && status !== 202) this.#isStreaming = false;
    if (!this.#isStreaming) open = undefined;
    return given;
  }
}

/** An instance has one at a time: one that was left behind is forgotten here. */
let open: Exchange | undefined;

const step: UploadStep = (raw, handle, goOn) => {
  const { method } = raw;
  if (method === ":streams") return WAITS;
  if (method.startsWith(BEGIN)) {
    const upload = new Upload();
    // Read now: the host takes the request's memory back with the next call.
    const { pathWithQuery, headers } = raw;
    const begun: RawRequest = { method: method.slice(BEGIN.length), pathWithQuery, headers, upload };
    open = new Exchange(upload, handle(begun));
    return open.wait();
  }
  // Nothing is open when the host asks for a response that is streamed for a whole request.
  if (!open) return goOn(raw);
  return goOnWith(open, raw, goOn);
};

/** Has the host stream the bodies of long requests to this component. */
export function takeUploads(): void {
  platform[uploadKey] = step;
}

async function goOnWith(exchange: Exchange, raw: RawRequest, goOn: Answer): Promise<RawResponse> {
  const { method, body } = raw;
  const { upload } = exchange;
  // Nothing that cleans up waits for a client that has gone away.
  if (method === ":cancel") upload.fail();
  if (method === ":next" || method === ":cancel") exchange.expect(goOn(raw));
  else {
    if (method === ":end") upload.give(undefined);
    else if (method === ":broken") upload.fail();
    // A component's bindings are of another realm: their Uint8Array is not the handler's.
    else if (body !== undefined) upload.give(new Uint8Array(body));
    await exchange.turn(body === undefined);
  }
  return exchange.wait();
}
