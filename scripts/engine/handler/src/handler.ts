/**
 * The probe in a component of Tenon's. It is an app of the SDK's whose `handle` is replaced: tests break built-in objects
 * permanently, and the SDK's part of an answer needs those. It does not speak `fetch`, because such apps get classes of the SDK's
 * in place of the engine's, and the engine is compared.
 */
import { routes } from "@tenon/sdk";
import { probe } from "../../probe.js";

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const { get } = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  "length",
) as PropertyDescriptor;
const size = (bytes: Uint8Array): number => Reflect.apply(get as () => number, bytes, []);
const headers = Object.freeze([["content-type", encoder.encode("application/json")]]);

export default {
  ...routes({}),
  /** Answers the build's own requests for other paths. */
  handle({ pathWithQuery, body }: { pathWithQuery: string; body?: Uint8Array }) {
    return pathWithQuery === "/" && body !== undefined ? answer(body) : { status: 404, headers };
  },
};

async function answer(body: Uint8Array) {
  const report = encoder.encode(await probe(decoder.decode(body)));
  // Some tests give `Uint8Array.prototype` a permanent `length`, and the glue reads it.
  Object.defineProperty(report, "length", { value: size(report) });
  return { status: 200, headers, body: report };
}
