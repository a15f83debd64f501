/** Compares `Blob`, `File` and `FormData` with Node's. */
import { describe, expect, it } from "vitest";
import { Blob as OwnBlob } from "./blob.ts";
import { File as OwnFile } from "./file.ts";
import { FormData as OwnFormData } from "./form-data.ts";

interface Classes {
  readonly Blob: typeof Blob;
  readonly File: typeof File;
  readonly FormData: typeof FormData;
}
const node: Classes = { Blob, File, FormData };
const own = { Blob: OwnBlob, File: OwnFile, FormData: OwnFormData } as unknown as Classes;

const attempt = (work: () => unknown) => {
  try {
    return work();
  } catch (thrown) {
    return (thrown as Error).constructor.name;
  }
};

const uses: Readonly<Record<string, (of: Classes) => unknown>> = {
  "parts of all kinds": async ({ Blob }) => {
    const bytes = new Uint8Array([98, 99, 100]);
    const blob = new Blob(["ä\ud800", bytes, bytes.subarray(1, 2), bytes.buffer, new Blob(["x"]), 5 as never]);
    return [blob.size, blob.type, await blob.text(), [...new Uint8Array(await blob.arrayBuffer())]];
  },
  "bytes that change later": async ({ Blob }) => {
    const bytes = new Uint8Array([97]);
    const blob = new Blob([bytes]);
    bytes[0] = 98;
    return blob.text();
  },
  "types and line ends": ({ Blob }) =>
    ["Text/Plain;A=B", "ä", "a\u007f", ""]
      .map((type) => new Blob([], { type }).type)
      .concat(String(new Blob(["a\r\nb\rc\nd"], { endings: "native" }).size)),
  "wrong arguments": ({ Blob }) =>
    [null, 1, "ab", {}, new Set(["a"]), [Symbol()]].map((parts) => attempt(() => new Blob(parts as never).size)),
  "wrong options": ({ Blob }) =>
    [null, 1, "a", {}, { endings: "x" }].map((options) => attempt(() => new Blob(["a"], options as never).size)),
  slices: async ({ Blob }) => {
    const blob = new Blob(["abcdef"], { type: "a/b" });
    const ranges = [[], [2], [-2], [1, -1], [4, 2], [0, 99], [-99, 2]];
    const texts = ranges.map((range) => blob.slice(...(range as [number?, number?])).text());
    return [await Promise.all(texts), blob.slice().type, blob.slice(0, 1, "C/D").type, blob.slice(1).slice(1).size];
  },
  "a stream": async ({ Blob }) => {
    const reader = new Blob(["abc", "x".repeat(100_000)]).stream().getReader();
    let length = 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) length += read.value.length;
    return length;
  },
  "an empty stream": async ({ Blob }) => (await new Blob([]).stream().getReader().read()).done,
  "other receivers": ({ Blob }) => [
    attempt(() => Object.getOwnPropertyDescriptor(Blob.prototype, "size")?.get?.call({})),
    attempt(() => Blob.prototype.slice.call({} as never)),
    attempt(() => (Blob as unknown as () => void)()),
  ],
  "a file": async ({ Blob, File }) => {
    const file = new File(["ab"], "n\ud800", { type: "X/Y", lastModified: 5 });
    return [
      ...[file.name, file.type, file.size, file.lastModified, await file.text(), file instanceof Blob],
      attempt(() => (new File(["a"], undefined as never) as { name: string }).name),
      attempt(() => new (File as never as new (parts: unknown) => unknown)(["a"])),
      typeof new File([], "").lastModified,
    ];
  },
  "a form's entries": ({ File, FormData }) => {
    const form = new FormData();
    form.append("a", "1");
    form.append("b", "2");
    form.append("a", 3 as never);
    form.append("f", new File(["x"], "x.txt"));
    form.set("b", "4");
    form.set("a", "5");
    form.set("c", "6");
    const before = [form.get("a"), form.getAll("a"), form.get("z"), form.has("b"), form.has("z")];
    form.delete("b");
    const seen: string[] = [];
    form.forEach((_, name) => void seen.push(name));
    return [before, [...form.keys()], seen, [...form].length, [...form.values()].map(String)];
  },
  "files of a form": async ({ Blob, File, FormData }) => {
    const form = new FormData();
    const file = new File(["x"], "x.txt", { type: "a/b", lastModified: 7 });
    form.append("blob", new Blob(["q"], { type: "c/d" }));
    form.append("named", new Blob(["q"]), "n.txt");
    form.append("file", file);
    form.append("renamed", file, "y.txt");
    return Promise.all(
      [...form].map(async ([, value]) => {
        const { name, type, lastModified } = value as File;
        return [name, type, value === file, lastModified === 7, await (value as File).text()];
      }),
    );
  },
  "wrong calls of a form": ({ FormData }) => {
    const form = new FormData() as unknown as Record<string, (...given: unknown[]) => unknown>;
    return [
      ...["append", "set", "get", "getAll", "has", "delete"].map((name) => attempt(() => form[name]?.())),
      attempt(() => form["append"]?.("a")),
      attempt(() => form["append"]?.("a", "b", "c")),
      attempt(() => form["forEach"]?.(1)),
      attempt(() => Reflect.construct(FormData, [{}])),
      attempt(() => Reflect.apply(FormData.prototype.get, {}, ["a"])),
    ];
  },
  "an iterator of a form": ({ FormData }) => {
    const form = new FormData();
    form.append("a", "1");
    const iterator = form.entries();
    form.append("b", "2");
    return [[...iterator], Object.prototype.toString.call(form.keys()), Object.keys(Object.getPrototypeOf(iterator))];
  },
};

describe("does as Node's does", () => {
  it.each(Object.keys(uses))("%s", async (name) => {
    const use = uses[name] as (of: Classes) => unknown;
    expect(await use(own)).toEqual(await use(node));
  });
});

it("answers reads into a buffer", async () => {
  const reader = new OwnBlob(["hello"]).stream().getReader({ mode: "byob" });
  const first = await reader.read(new Uint8Array(3));
  const second = await reader.read(new Uint8Array(3));
  const end = await reader.read(new Uint8Array(3));
  expect([first.value?.length, second.value?.length, end.done]).toEqual([3, 2, true]);
});

it("clamps positions that are no whole numbers", async () => {
  const blob = new OwnBlob(["abcdef"]);
  const texts = [
    [NaN, 2],
    [0.4, 2.5],
    [1.5, 3.5],
    ["1", "3"],
    [-Infinity, Infinity],
  ].map((range) => blob.slice(...(range as [number, number])).text());
  expect(await Promise.all(texts)).toEqual(["ab", "ab", "cd", "bc", "abcdef"]);
});

it("truncates the time of a file", () => {
  const times = [5.7, -5.7, NaN, "8", null, undefined].map((time) => {
    return new OwnFile([], "", { lastModified: time as number }).lastModified;
  });
  expect(times.slice(0, 5)).toEqual([5, -5, 0, 8, 0]);
  expect(times[5]).toBeGreaterThan(1e12);
});
