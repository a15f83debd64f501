/** Every relative link of the documentation leads to a file, and every anchor to a heading of it, as GitHub writes anchors. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const pages = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md"],
  ...(await readdir(join(root, "docs"))).filter((file) => file.endsWith(".md")).map((file) => `docs/${file}`),
  ...(await readdir(join(root, "docs/sdk"))).map((file) => `docs/sdk/${file}`),
];

/** The text of a page without its code. */
function prose(file: string): string {
  return readFileSync(file, "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
}

function anchorsOf(file: string): Set<string> {
  const headings = [...prose(file).matchAll(/^#{1,6} (.+)$/gm)].map(([, text = ""]) =>
    text.replaceAll(/\[(.*?)\]\(.*?\)/g, "$1"),
  );
  return new Set(
    headings.map((text) =>
      text
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{Letter}\p{Number}\p{Mark} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

test("the index, the README and the site's sidebar list every page", () => {
  const listed = ["docs/index.md", "README.md", "docs/.vitepress/config.mjs"].map((file) =>
    readFileSync(join(root, file), "utf8"),
  );
  const names = pages.flatMap((page) => /^docs\/(.+)\.md$/.exec(page)?.[1] ?? []).filter((name) => name !== "index");
  const [index, readme, site] = listed;
  const ofSdk = readFileSync(join(root, "docs/sdk.md"), "utf8");
  for (const name of names) {
    if (name.startsWith("sdk/")) {
      expect(ofSdk, name).toContain(`(${name}.md)`);
      expect(site, name).toContain(`"${name}")`);
      continue;
    }
    expect(index, name).toContain(`(${name}.md)`);
    expect(readme, name).toContain(`(docs/${name}.md)`);
    expect(site, name).toContain(`"${name}")`);
  }
});

test.each(pages)("%s is Markdown that the site can read", (page) => {
  // VitePress reads a page as a Vue template, where tags and double braces outside of code have a meaning.
  const text = prose(join(root, page)).replaceAll(/`[^`\n]*`|<!--[\s\S]*?-->/g, "");
  expect(text.match(/<(?!\/?(?:picture|source|img)\b|https:)[a-z/][^\n]*/gi)).toBeNull();
  expect(text).not.toContain("{{");
});

test.each(pages)("%s has no dead link", (page) => {
  const file = join(root, page);
  const text = prose(file).replaceAll(/`[^`\n]*`/g, "");
  const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    ([, link, src]) => link ?? src ?? "",
  );
  for (const link of links.filter((each) => !/^[a-z]+:/.test(each))) {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? file : resolve(dirname(file), path);
    expect(existsSync(target), link).toBe(true);
    if (anchor !== undefined && statSync(target).isFile()) expect([...anchorsOf(target)], link).toContain(anchor);
  }
});
