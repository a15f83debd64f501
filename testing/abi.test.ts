/** Names that both sides of a component's boundary have: each side has one list, and the lists agree. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import * as abi from "../ts-sdk/src/abi.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, "utf8");

const texts = Object.entries<unknown>(abi).filter((entry): entry is [string, string] => typeof entry[1] === "string");

test("the guest's and the host's names are the same", () => {
  const constants = read("crates/abi/src/lib.rs").matchAll(/^pub const (\w+): &str = "([^"]*)";$/gm);
  expect(Object.fromEntries([...constants].map(([, name, text]) => [name, text]))).toEqual(Object.fromEntries(texts));
});

/** The code of a file: no comments, and no tests inside it. */
const code = (path: string) =>
  read(path)
    .replace(/^#\[cfg\(test\)\]\n(?:pub\(super\) )?mod [\s\S]*/m, "")
    .replaceAll(/^\s*(?:\/\/|\*|\/\*\*).*$/gm, "");

/** The committed files below some folders, without tests. */
function sources(pattern: RegExp, ...folders: string[]): string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--", ...folders], {
    cwd: root,
    encoding: "utf8",
  });
  const isTest = /\.test(-d)?\.ts$|\.testing\.ts$|\/tests?[./]|\/(?:isolation|fuzz)\//;
  return listed.split("\n").filter((path) => pattern.test(path) && !isTest.test(path));
}

describe("no other file writes them", () => {
  const lists = ["ts-sdk/src/abi.ts", "crates/abi/src/lib.rs"];
  // They are compiled into committed modules, or belong to a package without the SDK; the next test reads them.
  const copies = [
    "crates/bridge/calls/src/request.rs",
    "crates/engine/src/environment.c",
    "cli/src/embed/native-options.ts",
    // Texts of a file format, which stay as they are.
    "crates/tape/src/dictionary.rs",
  ];
  const files = sources(/\.(ts|rs|c|h)$/, "ts-sdk/src", "guest/src", "cli/src", "crates").filter(
    (path) => !lists.includes(path) && !copies.includes(path),
  );

  test("keys of globals", () => {
    expect(files.filter((path) => /Symbol\.for\(["'`]tenon\b/.test(read(path)))).toEqual([]);
  });

  test.each(texts.filter(([name]) => !["BODY_STREAMED", "BODY_WHOLE"].includes(name)))("%s", (_, text) => {
    const written = new RegExp(`["'\`]${text}[ "'\`]`);
    expect(files.filter((path) => written.test(code(path)))).toEqual([]);
  });
});

test("copies agree", () => {
  const { REQUEST_HOST, REQUEST_SCHEME, SECRET_PREFIX } = abi;
  expect(read("crates/bridge/calls/src/request.rs")).toContain(`format!("${SECRET_PREFIX}{variable}_TOKEN")`);
  for (const name of [REQUEST_HOST, REQUEST_SCHEME])
    expect(read("crates/engine/src/environment.c")).toContain(`"${name}"`);
  expect(read("cli/src/embed/native-options.ts")).toContain(`: typeof SdkPrefix = "${SECRET_PREFIX}";`);
});
