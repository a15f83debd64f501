/** Functions of `crates/engine/src/compress.c`. */
declare module "tenon:engine" {
  /** Compresses or decompresses data in pieces. */
  export interface CodecHandle {
    readonly kind: "codec";
  }
  /** Makes a codec of a format: 0 for "deflate", 1 for "deflate-raw", 2 for "gzip". */
  export function codecNew(format: number, isDecompression: boolean): CodecHandle;
  /** Adds input, which is copied. */
  export function codecPush(codec: CodecHandle, bytes: Uint8Array): void;
  /** Ends the input. */
  export function codecFinish(codec: CodecHandle): void;
  /** Takes a piece of output; undefined when input is needed, and at the end. @throws TypeError for invalid data */
  export function codecPull(codec: CodecHandle): Uint8Array<ArrayBuffer> | undefined;
}
