/** `TextDecoderStream` and `TextEncoderStream` (Encoding Standard, section 7), made from the engine's classes. */
type Decoder = InstanceType<typeof TextDecoder>;

class TextDecoderStream {
  readonly #decoder: Decoder;
  readonly readable: ReadableStream<string>;
  readonly writable: WritableStream<Uint8Array>;

  constructor(label = "utf-8", options?: { fatal?: boolean; ignoreBOM?: boolean }) {
    const decoder = new TextDecoder(label, options);
    const { readable, writable } = new TransformStream<Uint8Array, string>({
      transform(part, controller) {
        // The decoder takes it for no bytes.
        if (part === undefined) throw new TypeError("TextDecoderStream: a chunk must be bytes");
        const text = decoder.decode(part, { stream: true });
        if (text !== "") controller.enqueue(text);
      },
      flush(controller) {
        const text = decoder.decode();
        if (text !== "") controller.enqueue(text);
      },
    });
    this.#decoder = decoder;
    this.readable = readable;
    this.writable = writable;
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
}

class TextEncoderStream {
  readonly encoding = "utf-8";
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<string>;

  constructor() {
    const encoder = new TextEncoder();
    // A surrogate pair may be split.
    let left = "";
    const { readable, writable } = new TransformStream<string, Uint8Array>({
      transform(part, controller) {
        const text = left + String(part);
        left = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
        const whole = left === "" ? text : text.slice(0, -1);
        if (whole !== "") controller.enqueue(encoder.encode(whole));
      },
      flush(controller) {
        if (left !== "") controller.enqueue(encoder.encode(left));
      },
    });
    this.readable = readable;
    this.writable = writable;
  }
}

for (const [name, value] of Object.entries({ TextDecoderStream, TextEncoderStream }))
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
