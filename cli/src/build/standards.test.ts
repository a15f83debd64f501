import { describe, expect, it } from "vitest";
import { standardsIn } from "./standards.ts";

const of = (text: string) => standardsIn("a.ts", text);

describe("standardsIn", () => {
  it.each([
    ["new Response()", ["fetch"]],
    ["export class Answer extends Response {}", ["fetch"]],
    ["fetch('http://a/')", ["fetch"]],
    ["globalThis.fetch('http://a/')", ["fetch"]],
    ["globalThis['fetch']('http://a/')", ["fetch"]],
    ["const { fetch: call } = globalThis; call('x')", []],
    ["const { fetch } = globalThis; fetch('x')", ["fetch"]],
    ["const g = globalThis; new g.Headers()", ["fetch"]],
    ["typeof Response", ["fetch"]],
    ["const all = { Response }", ["fetch"]],
    ["export { fetch as request }", ["fetch"]],
    ["AbortSignal.any([])", ["abort"]],
    ["signal.throwIfAborted()", ["abort"]],
    ["signal?.throwIfAborted()", ["abort"]],
    ["new (globalThis as any).AbortController()", ["abort"]],
    ["new DecompressionStream('gzip')", ["decompression"]],
    ["a.pipeTo(b, { signal })", ["streams"]],
    ["URL.canParse('a')", ["url-statics"]],
    ["URL.parse('a')", ["url-statics"]],
    ["JSON.parse('a')", []],
    ["const answer = x as Response;", []],
    ["function f(request: Request): Promise<Response> { return g(request); }", []],
    ["interface Response {} type A = Headers;", []],
    ["import type { Response } from './a'", []],
    ["import { Response as Own } from './a'", []],
    ["app.fetch(request)", []],
    ["export default { fetch() {} }", []],
    ["class A { fetch() {} }", []],
    ["// new Response()\nconst a = 'fetch';", []],
    ["<broken", []],
  ])("%s", (text, polyfills) => expect(of(text)).toEqual(polyfills));
});
