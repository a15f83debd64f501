import { originalPositionFor, TraceMap } from "@jridgewell/trace-mapping";
import { describe, expect, it } from "vitest";
import { withAsyncForms } from "./async-forms.ts";

const map = /\n\/\/# sourceMappingURL=data:application\/json;base64,(.*)\n$/;
const written = (text: string) => withAsyncForms("a.ts", text, "a.ts").replace(map, "");

describe("withAsyncForms", () => {
  it.each([
    [
      "async function f() { await a; }",
      "async function f() { let __tenonAt; __tenonAfter(__tenonAt = __tenonNow(), await __tenonFollowed(a)); }",
    ],
    ["async () => await a", "async () => __tenonAfter(__tenonNow(), await __tenonFollowed(a))"],
    ["async () => a", "async () => __tenonFollowed(a)"],
    ["async () => { return a }", "async () => { return __tenonFollowed(a) }"],
    [
      'async function f() { "use strict"; await a }',
      'async function f() { "use strict"; let __tenonAt; __tenonAfter(__tenonAt = __tenonNow(), await __tenonFollowed(a)) }',
    ],
    [
      "async () => { x: for await (const a of b) c(a); }",
      "async () => { let __tenonAt; { x: for await (const a of (__tenonAt = __tenonNow(), __tenonEach(b))) { __tenonAfter(__tenonAt); c(a); } __tenonAfter(__tenonAt); } }",
    ],
    [
      "async () => { try { } catch { } finally { } }",
      "async () => { let __tenonAt; try { } catch { __tenonAfter(__tenonAt); } finally { __tenonAfter(__tenonAt); } }",
    ],
    ["new Promise((done) => done(a))", "new Promise(__tenonExecutor((done) => done(a)))"],
    ["class A extends Promise {}", "class A extends (Promise, __tenonPromise) {}"],
    ["await a;", "await a;"],
    ["function f() { return a; }", "function f() { return a; }"],
    ["async () => { function f() { return a; } }", "async () => { function f() { return a; } }"],
    ["function* f() { yield a; } async", "function* f() { yield a; } async"],
    ["async <broken", "async <broken"],
  ])("%s", (text, expected) => expect(written(text)).toBe(expected));

  it("maps every character to its place", () => {
    const text =
      "const a = 1;\nexport const f = async (b: number) => {\r\n  try {\n    return await g(await b, a);\n  } catch { boom(); }\n};\n\n// é\nf(2); new Promise(k);\n";
    const result = withAsyncForms("a.ts", text, "a.ts");
    const encoded = map.exec(result)?.[1] as string;
    const trace = new TraceMap(Buffer.from(encoded, "base64").toString());
    const code = result.replace(map, "");
    for (const word of ["const a", "async", "try", "return", "g(", "b: number", "boom", "f(2)", "k)"]) {
      const at = code.indexOf(word);
      const lines = code.slice(0, at).split("\n");
      const place = { line: lines.length, column: (lines.at(-1) as string).length };
      const { line, column } = originalPositionFor(trace, place);
      const before = text.slice(0, text.indexOf(word)).split("\n");
      expect({ word, line, column }).toEqual({ word, line: before.length, column: (before.at(-1) as string).length });
    }
  });
});
