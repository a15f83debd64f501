import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { SdkParts } from "../../../cli/dist/build/sdk-parts.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const tenon = fileURLToPath(new URL("../../../cli/bin/tenon.js", import.meta.url));
const sdk = fileURLToPath(new URL("../../src", import.meta.url));
/** Built components, by their digests. */
const cache = fileURLToPath(new URL("../../node_modules/.cache/tenon-components", import.meta.url));

/** Connects the app of the module at `modulePath` with a handler, as the entry of the CLI does. */
export function entry(modulePath: string): string {
  return `import { warmUp } from "../../src/index.ts";
import app from ${JSON.stringify(modulePath)};
warmUp(app);
export const handler = { handle: app.handle };
`;
}

/** Bundles an entry as the CLI does: one ES module, and no part of the SDK that is not named. */
export async function bundle(source: string, minify = false): Promise<string> {
  const parts = new SdkParts();
  parts.addFrom(source);
  for (;;) {
    const { outputFiles, metafile } = await build({
      stdin: { contents: source, resolveDir: here, loader: "ts" },
      absWorkingDir: here,
      bundle: true,
      write: false,
      minify,
      format: "esm",
      platform: "neutral",
      mainFields: ["module", "main"],
      conditions: ["import"],
      target: "es2022",
      plugins: [parts.plugin],
      metafile: true,
      logLevel: "error",
    });
    if (!(await parts.add(here, metafile))) return outputFiles[0]?.text ?? "";
  }
}

/**
 * Builds a handler module with `tenon build` and the SDK's sources, and returns the path of the component.
 *
 * @param module its absolute path
 * @param before statements before the app is exported
 */
export async function componentOf(module: string, before = ""): Promise<string> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "project-"));
  try {
    await mkdir(join(folder, "src"));
    const paths = { "@tenon/sdk": [join(sdk, "index.ts")], "@tenon/sdk/*": [join(sdk, "*/index.ts")] };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: { paths } }));
    await writeFile(join(folder, "tenon.toml"), '[project]\nname = "component"\n');
    await writeFile(
      join(folder, "src/handler.ts"),
      `import app from ${JSON.stringify(module)};\n${before}\nexport default app;\n`,
    );
    await promisify(execFile)(process.execPath, [tenon, "build"], { cwd: folder });
    const built = join(folder, "dist/component.wasm");
    const digest = createHash("sha256").update(await readFile(built));
    const file = join(cache, `${digest.digest("hex").slice(0, 24)}.wasm`);
    if (existsSync(file)) return file;
    await copyFile(built, `${file}.${process.pid}`);
    await rename(`${file}.${process.pid}`, file);
    return file;
  } finally {
    await rm(folder, { recursive: true });
  }
}
