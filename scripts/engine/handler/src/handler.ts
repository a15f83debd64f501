/**
 * The probe in a component of Tenon's. It is an app without the SDK's routes: tests break built-in objects for good, which
 * the SDK's part of an answer needs, and it is the engine that is compared.
 */
import { probe } from "../../probe.js";

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const headers = Object.freeze([["content-type", encoder.encode("application/json")]]);

export default {
  [Symbol.for("tenon.app")]: true,
  operations: [],
  /** The build asks for paths of its own. */
  handle({ pathWithQuery, body }: { pathWithQuery: string; body?: Uint8Array }) {
    return pathWithQuery === "/" && body !== undefined ? answer(body) : { status: 404, headers };
  },
};

async function answer(body: Uint8Array) {
  return { status: 200, headers, body: encoder.encode(await probe(decoder.decode(body))) };
}
