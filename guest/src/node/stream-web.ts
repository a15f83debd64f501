/** `node:stream/web` inside a component: the engine's streams. */
export const {
  ByteLengthQueuingStrategy,
  CompressionStream,
  CountQueuingStrategy,
  DecompressionStream,
  ReadableStream,
  TransformStream,
  WritableStream,
} = globalThis;
export default {
  ByteLengthQueuingStrategy,
  CompressionStream,
  CountQueuingStrategy,
  DecompressionStream,
  ReadableStream,
  TransformStream,
  WritableStream,
};
