/** `TextDecoderStream` and `TextEncoderStream` (Encoding Standard, section 7). */
import { defineInterface } from "../interface.ts";
import { type ReadableStream, TransformStream, type WritableStream } from "./classes.ts";

type Options = ConstructorParameters<typeof TextDecoder>[1];

export class TextDecoderStream {
  readonly #decoder: InstanceType<typeof TextDecoder>;
  readonly #stream: TransformStream<unknown, string>;

  // Parameters with defaults do not count for `length`.
  constructor(label: string = "utf-8", options: Options = {}) {
    const decoder = new TextDecoder(label, options);
    this.#decoder = decoder;
    this.#stream = new TransformStream<unknown, string>({
      transform(part, controller) {
        // The decoder accepts it as no bytes.
        if (part === undefined) throw new TypeError("TextDecoderStream: a chunk must be bytes");
        const text = decoder.decode(part as Uint8Array, { stream: true });
        if (text !== "") controller.enqueue(text);
      },
      flush(controller) {
        const text = decoder.decode();
        if (text !== "") controller.enqueue(text);
      },
    });
  }

  get encoding(): string {
    return this.#decoder.encoding;
  }

  get fatal(): boolean {
    return this.#decoder.fatal;
  }

  get ignoreBOM(): boolean {
    return this.#decoder.ignoreBOM;
  }

  get readable(): ReadableStream<string> {
    return this.#stream.readable;
  }

  get writable(): WritableStream<unknown> {
    return this.#stream.writable;
  }
}

export class TextEncoderStream {
  readonly #stream: TransformStream<unknown, Uint8Array>;

  constructor() {
    const encoder = new TextEncoder();
    // A chunk may end within a surrogate pair.
    let left = "";
    this.#stream = new TransformStream<unknown, Uint8Array>({
      transform(part, controller) {
        const text = `${left}${part}`;
        const last = text.charCodeAt(text.length - 1);
        left = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : "";
        const whole = left === "" ? text : text.slice(0, -1);
        if (whole !== "") controller.enqueue(encoder.encode(whole));
      },
      flush(controller) {
        if (left !== "") controller.enqueue(encoder.encode(left));
      },
    });
  }

  get encoding(): "utf-8" {
    // Throws for other objects.
    this.#stream;
    return "utf-8";
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#stream.readable;
  }

  get writable(): WritableStream<unknown> {
    return this.#stream.writable;
  }
}

defineInterface("TextDecoderStream", TextDecoderStream);
defineInterface("TextEncoderStream", TextEncoderStream);
