/** Checks that the exports which people use most show an example in an editor. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("../src", import.meta.url));
const sources = (readdirSync(folder, { recursive: true }) as string[])
  .filter((file) => /\.ts$/.test(file) && !/\.test(?:-d)?\.ts$|left-out/.test(file))
  .map((file) => readFileSync(join(folder, file), "utf8"));

it.each([
  ...[
    "routes",
    "group",
    "get",
    "post",
    "put",
    "patch",
    "del",
    "Type",
    "Path",
    "Query",
    "Form",
    "field",
    "list",
    "oneOf",
  ],
  ...["ok", "created", "noContent", "error", "respond", "guard", "ensure", "stream", "sse", "env", "secret"],
  ...["middleware", "use", "cors", "bearer", "jwt", "signJwt", "db", "cache", "storage", "httpClient"],
  ...["testApp", "client"],
])("%s", (name) => {
  const declaration = new RegExp(`\\*/\\nexport (?:async )?(?:function|const) ${name}\\b`);
  const source = sources.find((text) => declaration.test(text)) ?? "";
  const end = source.search(declaration);
  expect(source.slice(source.lastIndexOf("/**", end), end)).toContain("@example");
});
