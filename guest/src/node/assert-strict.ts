/** `node:assert/strict` inside a component. */
import { strict } from "./assert.ts";

export {
  AssertionError,
  deepStrictEqual as deepEqual,
  deepStrictEqual,
  doesNotMatch,
  doesNotReject,
  doesNotThrow,
  fail,
  ifError,
  match,
  notDeepStrictEqual as notDeepEqual,
  notDeepStrictEqual,
  notStrictEqual as notEqual,
  notStrictEqual,
  ok,
  rejects,
  strict,
  strictEqual as equal,
  strictEqual,
  throws,
} from "./assert.ts";
export default strict;
