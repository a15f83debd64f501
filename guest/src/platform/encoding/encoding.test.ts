/** Compares `TextEncoder` and `TextDecoder` in the engine with Node's. */
import { beforeAll, describe, expect, it } from "vitest";
import { evaluateInNode, evaluator } from "../../../testing/evaluate.ts";

let lean: (program: string) => unknown;
let full: (program: string) => unknown;
beforeAll(async () => {
  // The lean engine has no decoders of other encodings: an import of one would not be found.
  lean = await evaluator(["platform/encoding/install-utf8.ts", "platform/encoding/install-encoder.ts"], "lean");
  full = await evaluator(["platform/encoding/install-all.ts", "platform/encoding/install-encoder.ts"]);
});

const attempt =
  "const attempt = (work) => { try { return work(); } catch (thrown) { return thrown.constructor.name; } };";

function expectSame(program: string): void {
  const whole = `${attempt}\n${program}`;
  const expected = evaluateInNode(whole);
  expect(lean(whole)).toEqual(expected);
  expect(full(whole)).toEqual(expected);
}

/** Bytes that are often nearly UTF-8. */
function randomBytes(seed: number, count: number): number[][] {
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
  const edges = [
    0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff,
  ];
  const whole = [
    [0xef, 0xbb, 0xbf],
    [0xe2, 0x82, 0xac],
    [0xf0, 0x9f, 0x98, 0x80],
    [0xc3, 0xa4],
  ];
  return Array.from({ length: count }, () =>
    Array.from({ length: random(6) }, () =>
      random(2) === 0 ? whole[random(whole.length)] : [edges[random(edges.length)]],
    ).flat(),
  ) as number[][];
}

describe("TextDecoder for UTF-8", () => {
  it("decodes bytes in pieces as in one", () => {
    for (const options of ["{}", "{ ignoreBOM: true }", "{ fatal: true }"]) {
      const inputs = randomBytes(5, 400);
      expectSame(`const decoder = new TextDecoder("utf-8", ${options});
        return ${JSON.stringify(inputs)}.map((bytes) => {
          const whole = attempt(() => new TextDecoder("utf8", ${options}).decode(new Uint8Array(bytes)));
          const pieces = attempt(() => {
            const own = new TextDecoder("utf8", ${options});
            return bytes.map((byte) => own.decode(new Uint8Array([byte]), { stream: true })).join("") + own.decode();
          });
          return [whole, pieces === whole];
        });`);
    }
  });

  it("accepts each label, and no other", () => {
    expectSame(`return ["UTF-8", " utf8\\n", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8", "\\u00a0utf8", "utf-7", "",
      undefined].map((label) => attempt(() => new TextDecoder(label).encoding));`);
  });

  it("accepts each kind of bytes", () => {
    expectSame(`const buffer = new Uint8Array([65, 66, 67, 68]).buffer;
      return [buffer, new DataView(buffer, 1, 2), new Uint16Array(buffer), new Uint8Array(buffer, 2), undefined, null, "A", [65], {}]
        .map((input) => attempt(() => new TextDecoder().decode(input)));`);
  });

  it("checks options, receivers and calls", () => {
    expectSame(`const get = (name) => Object.getOwnPropertyDescriptor(TextDecoder.prototype, name).get;
      const decoder = new TextDecoder("utf-8", { fatal: 1, ignoreBOM: "x" });
      return [() => decoder.fatal, () => decoder.ignoreBOM, () => get("encoding").call({}), () => TextDecoder(),
        () => TextDecoder.prototype.decode.call({}), () => new TextDecoder("utf-8", null).fatal, () => new TextDecoder(Symbol()),
        () => TextDecoder.name + TextDecoder.length + TextDecoder.prototype.decode.length,
        () => Object.keys(TextDecoder.prototype).sort().join() + TextDecoder.prototype[Symbol.toStringTag]].map(attempt);`);
  });

  it("starts again after a text that is not valid", () => {
    expectSame(`const decoder = new TextDecoder("utf-8", { fatal: true });
      return [attempt(() => decoder.decode(new Uint8Array([0xc3]))), decoder.decode(new Uint8Array([0xc3, 0xa4]))];`);
  });
});

describe("TextDecoder for all encodings", () => {
  it.each([
    ["windows-1252", "latin1", [0x80, 0xe4, 0xff], "€äÿ"],
    ["shift_jis", "sjis", [0x83, 0x65, 0x83, 0x58], "テス"],
    ["gb18030", "gb18030", [0x81, 0x30, 0x81, 0x30, 0xc4, 0xe3], "\u0080你"],
    ["big5", "big5-hkscs", [0xa7, 0x41], "你"],
    ["euc-kr", "ks_c_5601-1987", [0xb0, 0xa1], "가"],
    ["iso-2022-jp", "csiso2022jp", [0x1b, 0x24, 0x42, 0x24, 0x22, 0x1b, 0x28, 0x42], "あ"],
    ["utf-16le", "utf-16", [0xff, 0xfe, 0x3d, 0xd8, 0x00, 0xde], "\u{1f600}"],
    ["utf-16be", "unicodefffe", [0x00, 0x41], "A"],
    ["x-user-defined", "x-user-defined", [0x41, 0x80], "A\uf780"],
    ["koi8-u", "koi8-ru", [0xc1], "а"],
  ])("decodes %s", (encoding, label, bytes, text) => {
    const program = `const decoder = new TextDecoder(${JSON.stringify(label)});
      const bytes = new Uint8Array(${JSON.stringify(bytes)});
      const pieces = [...bytes].map((byte) => decoder.decode(new Uint8Array([byte]), { stream: true })).join("") + decoder.decode();
      return [decoder.encoding, decoder.decode(bytes), pieces];`;
    expect(full(program)).toEqual([encoding, text, text]);
  });

  it("refuses bytes that are not valid, and labels that cannot decode", () => {
    expect(
      full(`${attempt}
        return [attempt(() => new TextDecoder("shift_jis", { fatal: true }).decode(new Uint8Array([0x83]))), attempt(() => new TextDecoder("replacement")),
          attempt(() => new TextDecoder("iso-2022-kr")), new TextDecoder("shift_jis").decode(new Uint8Array([0x83]))];`),
    ).toEqual(["TypeError", "RangeError", "RangeError", "\ufffd"]);
  });

  it("frees decoders that are no longer used", () => {
    expect(
      full(`for (let count = 0; count < 200_000; count++) new TextDecoder("gbk").decode(new Uint8Array([0xc4, 0xe3]));
        return true;`),
    ).toBe(true);
  });
});

describe("TextEncoder", () => {
  it("encodes", () => {
    expectSame(`const encoder = new TextEncoder();
      return ["", "aä€\\u{1f600}", "\\ud800", "a\\udc00b\\ud800", 5, null, undefined, {}].map((text) => [...encoder.encode(text)])
        .concat([[...encoder.encode()], encoder.encoding, TextEncoder.length, attempt(() => TextEncoder.prototype.encode.call({}, ""))]);`);
  });

  it("encodes into a destination", () => {
    expectSame(`const encoder = new TextEncoder();
      const texts = ["", "abc", "aä€\\u{1f600}x", "\\u{1f600}\\u{1f600}", "\\ud800\\udc00", "\\ud800a", "a\\ud800", "€€€€€€€€"];
      return texts.flatMap((text) => Array.from({ length: 10 }, (_, space) => {
        const into = new Uint8Array(space);
        return [encoder.encodeInto(text, into), [...into]];
      })).concat([[attempt(() => encoder.encodeInto("a", new Uint16Array(1))), attempt(() => encoder.encodeInto("a"))]]);`);
  });
});
