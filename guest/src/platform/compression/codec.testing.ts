/** Functions for codec.test.ts, which run in the engine. Bytes are passed as texts, a character each. */
import { type CodecHandle, codecFinish, codecNew, codecPull, codecPush } from "tenon:engine";

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

function pull(codec: CodecHandle, seen: (part: Uint8Array) => void): void {
  for (let part = codecPull(codec); part !== undefined; part = codecPull(codec)) seen(part);
}

function runCodec(format: number, isDecompression: boolean, text: string, piece: number) {
  const codec = codecNew(format, isDecompression);
  const input = bytesOf(text);
  const output: string[] = [];
  const seen = (part: Uint8Array) => {
    // There is a limit for the arguments of a function.
    for (let at = 0; at < part.length; at += 1024) output.push(String.fromCharCode(...part.subarray(at, at + 1024)));
  };
  try {
    for (let at = 0; at < input.length; at += piece) {
      codecPush(codec, input.subarray(at, at + piece));
      pull(codec, seen);
    }
    codecFinish(codec);
    pull(codec, seen);
  } catch (thrown) {
    return { error: (thrown as Error).name };
  }
  return { text: output.join("") };
}

function largestPart(format: number, text: string): number {
  const codec = codecNew(format, true);
  codecPush(codec, bytesOf(text));
  let largest = 0;
  pull(codec, (part) => {
    largest = Math.max(largest, part.length);
  });
  return largest;
}

Object.assign(globalThis, { runCodec, largestPart });
