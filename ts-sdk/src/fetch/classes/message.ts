import { platform } from "../../platform.ts";
import { type Body, bytesOf, type Stream, textOf } from "./body.ts";
import { formDataOf } from "./form-data.ts";
import type { Headers } from "./headers.ts";

export const BODY: unique symbol = Symbol() as never;

/** The body methods of `Request` and `Response` (Fetch, section 5.3). */
export abstract class Message {
  declare [BODY]: Body | null;
  abstract headers: Headers;

  get body(): Stream | null {
    return this[BODY]?.stream ?? null;
  }

  get bodyUsed(): boolean {
    return this[BODY]?.isUsed ?? false;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer as ArrayBuffer;
  }

  async blob(): Promise<object> {
    const { Blob } = platform as unknown as { Blob: new (parts: Uint8Array[], options: { type: string }) => object };
    return new Blob([await this.bytes()], { type: this.headers.get("content-type") ?? "" });
  }

  async bytes(): Promise<Uint8Array> {
    const whole = await read(this, "bytes");
    // A copy, unless it was made now: the caller may change it.
    return typeof whole === "string" ? bytesOf(whole) : whole.slice();
  }

  async formData(): Promise<unknown> {
    return formDataOf(bytesOf(await read(this, "formData")), this.headers.get("content-type") ?? "");
  }

  async json(): Promise<unknown> {
    return JSON.parse(textOf(await read(this, "json")));
  }

  async text(): Promise<string> {
    return textOf(await read(this, "text"));
  }
}

async function read(message: Message, what: string): Promise<Uint8Array | string> {
  return message[BODY] === null ? "" : message[BODY].read(`${message.constructor.name}.${what}`);
}
