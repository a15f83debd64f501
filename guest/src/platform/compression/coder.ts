/** Compression by the engine's native functions (RFC 1950, RFC 1951, RFC 1952). */
import { newDeflate, newInflate, push } from "tenon:engine";

export type Format = "deflate" | "deflate-raw" | "gzip";

/**
 * Codes a piece and returns the output that is complete; `isLast` ends the data.
 *
 * @throws TypeError for data that is damaged, that is cut, or that goes on after its end
 */
export type Coder = (piece: Uint8Array, isLast: boolean) => Uint8Array;

export function compressor(format: Format): Coder {
  const state = newDeflate(format);
  return (piece, isLast) => push(state, piece, isLast);
}

export function decompressor(format: Format): Coder {
  const state = newInflate(format);
  return (piece, isLast) => {
    try {
      return push(state, piece, isLast);
    } catch (thrown) {
      if (thrown instanceof TypeError) throw thrown;
      throw new TypeError(`DecompressionStream: the data is not ${format}`, { cause: thrown });
    }
  };
}
