/** `TextDecoder` for all encodings, by the engine's decoders (`crates/engine/src/encoding.c`). */
import { decoderDecode, decoderEncoding, decoderNew } from "tenon:engine";
import { useOtherDecoders } from "./decoder.ts";

useOtherDecoders((label, fatal, ignoreBOM) => {
  const handle = decoderNew(label, fatal, ignoreBOM);
  if (handle === undefined) return undefined;
  return {
    encoding: decoderEncoding(handle).toLowerCase(),
    decode: (bytes, stream) => decoderDecode(handle, bytes, stream),
  };
});

export { TextDecoder } from "./decoder.ts";
