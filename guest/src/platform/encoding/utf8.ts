/**
 * `TextDecoder` for UTF-8 alone, which needs no functions of the Rust library. The build chooses it for a program that makes
 * decoders without an argument, or with a literal label of UTF-8 (`labels.ts`).
 */
export { TextDecoder } from "./decoder.ts";
