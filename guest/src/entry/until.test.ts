import { expect, test, vi } from "vitest";

const sent: string[] = [];
vi.mock(import("tenon:engine"), () => ({ startCall: ({ url }: { url: string }) => sent.push(url) }) as never);
const { values, watch } = await import("./until.ts");

/** The values that are sent for expressions. */
function shown(...expressions: (() => unknown)[]): unknown[] {
  const all = expressions.map((value, at) => [String(at), value] as const);
  const settings = { mark: "M", entries: Number.MAX_SAFE_INTEGER, most: 1, isSilent: false };
  sent.length = 0;
  watch(settings, { handle: () => values(all) }).handle();
  const { kept } = JSON.parse(decodeURIComponent(sent[0] as string));
  return Object.values(kept.at(-1));
}

test("values are short, and have every member", () => {
  const long = "x".repeat(5_000);
  const [error, name, big, proto, map] = shown(
    () => {
      throw new Error(long);
    },
    () => ({ [long]: 1 }),
    () => 10n ** 5_000n,
    () => JSON.parse('{ "__proto__": 1, "a": 2 }'),
    () => new Map([[1, [2]]]),
  );
  expect(JSON.stringify([error, name, big]).length).toBeLessThan(4_000);
  expect(JSON.stringify([proto, map])).toBe('[{"__proto__":1,"a":2},{"<Map>":[[1,[2]]]}]');
});

test("an expression that changes prototypes changes no printed value", () => {
  try {
    const changes = () => {
      for (const { prototype } of [Array, Object]) {
        Object.defineProperty(prototype, "toJSON", { value: () => 1, configurable: true });
      }
      return [[1], { a: 2 }];
    };
    expect(shown(changes)).toEqual([[[1], { a: 2 }]]);
  } finally {
    for (const { prototype } of [Array, Object]) Reflect.deleteProperty(prototype, "toJSON");
  }
});
