// Runs in Node: `node bench/sql/node.mjs` from the repository's root.
import { build } from "esbuild";

const bundle = await build({
  entryPoints: [new URL("measure.ts", import.meta.url).pathname],
  bundle: true,
  write: false,
  format: "esm",
  platform: "node",
  logLevel: "error",
});
const { measure, report } = await import(
  `data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString("base64")}`
);
measure(() => performance.now(), 3, 2_000);
process.stdout.write(
  `${report(
    `Node ${process.version}`,
    measure(() => performance.now(), 41, 2_000),
  )}\n`,
);
