/** Streams that are pulled only when they are read. */
import { platform } from "../../platform.ts";
import type { Stream } from "./body.ts";

/** Makes an object without a prototype: a property that a program gives `Object.prototype` is no member of it. */
const plain = <T extends object>(members: T): T => Object.setPrototypeOf(members, null);

const LAZY = plain({ highWaterMark: 0 });

/** Makes a stream of a source, which it changes. */
export function lazyStream(source: object): Stream {
  return new platform.ReadableStream(plain(source) as never, LAZY) as Stream;
}
