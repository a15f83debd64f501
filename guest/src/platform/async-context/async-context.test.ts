/** `AsyncLocalStorage` over the async context of the engine, compared with Node's. */
import type { AsyncLocalStorage } from "node:async_hooks";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { startEngine } from "../../../testing/engine.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
/** By a path that TypeScript does not follow, because the checks await what its types forbid. */
const sources = "cli/e2e/fixtures/context/src";
type Checks = Record<string, () => unknown>;

const { checks, store } = (await import(/* @vite-ignore */ `${root}${sources}/checks.ts`)) as {
  checks: Checks;
  store: AsyncLocalStorage<string>;
};
const { functions } = (await import(/* @vite-ignore */ `${root}${sources}/functions.js`)) as { functions: Checks };

let ask: (name: string) => unknown;
beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import "./guest/src/platform/events/install/abort-controller.ts";
        import "./guest/src/platform/events/install/event.ts";
        import "./guest/src/platform/events/install/event-target.ts";
        import "./guest/src/platform/streams/install.ts";
        import { checks, store } from "./${sources}/checks.ts";
        import { functions } from "./${sources}/functions.js";
        import { utf8Encode } from "tenon:engine";
        export const handler = {
          async handle({ pathWithQuery }) {
            const outcome = await store.run("tx", async () => ({ ...checks, ...functions })[decodeURIComponent(pathWithQuery)]());
            const body = { outcome: outcome ?? null, after: store.getStore() ?? "none" };
            return { status: 200, headers: [], body: utf8Encode(JSON.stringify(body)) };
          },
        };`,
      resolveDir: root,
    },
    bundle: true,
    format: "esm",
    target: "esnext",
    external: ["tenon:engine"],
    write: false,
    plugins: [
      {
        name: "async hooks of the engine",
        setup({ onResolve }) {
          onResolve({ filter: /^node:async_hooks$/ }, () => ({ path: `${root}guest/src/node/async-hooks.ts` }));
          onResolve({ filter: /async-context\.ts$/ }, () => ({
            path: `${root}guest/src/platform/async-context/async-context.ts`,
          }));
        },
      },
    ],
  });
  const engine = startEngine(
    new URL("../../../../crates/engine/engine.wasm", import.meta.url),
    outputFiles[0]?.text ?? "",
  );
  ask = (name) => {
    const { status, body } = engine.handle({ path: encodeURIComponent(name) });
    if (status !== 200) throw new Error(engine.printed());
    return JSON.parse(new TextDecoder().decode(body));
  };
});

/** Outcomes by the standard where Node 20 has others. */
const other: Readonly<Record<string, unknown>> = {
  "for await sync iter rejected": ["threw bad", [1, "closed"]],
};

test.each(Object.entries({ ...checks, ...functions }))("%s", async (name, check) => {
  const expected = other[name] ?? (await store.run("tx", async () => check()));
  expect(ask(name)).toEqual({ outcome: JSON.parse(JSON.stringify(expected ?? null)), after: "none" });
});
