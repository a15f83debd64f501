import { platform } from "../../platform.ts";
import { type Body, bytesOf, type Stream, textOf } from "./body.ts";
import { formDataOf } from "./form-data.ts";
import type { Headers } from "./headers.ts";

export const BODY: unique symbol = Symbol() as never;
export const HEADERS: unique symbol = Symbol() as never;

/** The body members of `Request` and `Response` (Fetch, section 5.3), which {@link mixBody} copies to both. */
export abstract class Message {
  declare [BODY]: Body | null;
  declare [HEADERS]: Headers;

  get headers(): Headers {
    return this[HEADERS] ?? foreign("headers");
  }

  get body(): Stream | null {
    return bodyOf(this, "body")?.stream ?? null;
  }

  get bodyUsed(): boolean {
    return bodyOf(this, "bodyUsed")?.isUsed ?? false;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer as ArrayBuffer;
  }

  async blob(): Promise<object> {
    const { Blob } = platform as unknown as { Blob: new (parts: Uint8Array[], options: { type: string }) => object };
    const bytes = bytesOf(await read(this, "blob"));
    return new Blob([bytes], { type: blobType(this[HEADERS].get("content-type") ?? "") });
  }

  async bytes(): Promise<Uint8Array> {
    const whole = await read(this, "bytes");
    // A copy, unless it was made now: the caller may change it.
    return typeof whole === "string" ? bytesOf(whole) : whole.slice();
  }

  async formData(): Promise<unknown> {
    return formDataOf(bytesOf(await read(this, "formData")), this[HEADERS].get("content-type") ?? "");
  }

  async json(): Promise<unknown> {
    return JSON.parse(textOf(await read(this, "json")));
  }

  async text(): Promise<string> {
    return textOf(await read(this, "text"));
  }
}

const { constructor: _, ...members } = Object.getOwnPropertyDescriptors(Message.prototype);

/** Adds the members of {@link Message} to a class. By the standard the classes have no common prototype. */
export function mixBody(of: abstract new (...given: never[]) => Message): void {
  Object.defineProperties(of.prototype, members);
}

function bodyOf(message: Message, what: string): Body | null {
  const body = message[BODY];
  return body === undefined ? foreign(what) : body;
}

/** Throws for an object that is no message. */
function foreign(what: string): never {
  throw new TypeError(`${what}: the receiver must be a Request or a Response`);
}

async function read(message: Message, what: string): Promise<Uint8Array | string> {
  const body = bodyOf(message, what);
  return body === null ? "" : body.read(`${message.constructor.name}.${what}`);
}

/** The type of a message's blob: without parameters that have no value, and with one form of white space (MIME Sniffing, section 4). */
function blobType(contentType: string): string {
  const [essence = "", ...parameters] = contentType.split(";").map((part) => part.trim());
  if (!/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/.test(essence)) return "";
  return [essence.toLowerCase(), ...parameters.filter((each) => /^[^=]+=./.test(each))].join(";");
}
