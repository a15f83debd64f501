import { linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WatchedFiles } from "./watched-files.ts";

let folder: string;
let told: Set<string>;
let watched: WatchedFiles;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tenon-watched-"));
  told = new Set();
  watched = new WatchedFiles((paths) => {
    for (const path of paths) told.add(path.slice(folder.length + 1));
  });
});
afterEach(() => {
  watched.close();
  rmSync(folder, { recursive: true });
});

const at = (path: string) => join(folder, path);
const make = (...paths: string[]) => {
  for (const path of paths) mkdirSync(at(path), { recursive: true });
};
const write = (path: string, text = "x") => writeFileSync(at(path), text);

/** Each begins with `lib/dist/a.js`, and `link`, which leads to `lib`; the path is watched while the steps run one after the other. */
const cases: Readonly<Record<string, readonly [path: string, ...steps: (() => void)[]]>> = {
  "a file that changes": ["lib/dist/a.js", () => write("lib/dist/a.js", "y")],
  "a file that changes twice": ["lib/dist/a.js", () => write("lib/dist/a.js", "y"), () => write("lib/dist/a.js", "z")],
  "a file that vanishes and comes back": [
    "lib/dist/a.js",
    () => unlinkSync(at("lib/dist/a.js")),
    () => write("lib/dist/a.js"),
    () => write("lib/dist/a.js", "y"),
  ],
  "a file that is replaced": [
    "lib/dist/a.js",
    () => {
      write("lib/dist/b.js");
      renameSync(at("lib/dist/b.js"), at("lib/dist/a.js"));
    },
    () => write("lib/dist/a.js", "y"),
  ],
  "a file that is missing": ["lib/dist/b.js", () => write("lib/dist/b.js"), () => write("lib/dist/b.js", "y")],
  "a file whose folders are missing": [
    "lib/x/y/z/b.js",
    () => {
      make("lib/x");
      make("lib/x/y/z");
      write("lib/x/y/z/b.js");
    },
    () => write("lib/x/y/z/b.js", "y"),
  ],
  "a folder that is removed and made again": [
    "lib/dist/a.js",
    () => rmSync(at("lib/dist"), { recursive: true }),
    () => {
      make("lib/dist");
      write("lib/dist/a.js");
    },
    () => write("lib/dist/a.js", "y"),
  ],
  "a folder that another one replaces": [
    "lib/dist/a.js",
    () => {
      make("other/dist");
      write("other/dist/a.js");
      renameSync(at("lib"), at("old"));
      renameSync(at("other"), at("lib"));
    },
    () => write("lib/dist/a.js", "y"),
  ],
  "a link that leads elsewhere": [
    "link/dist/a.js",
    () => {
      make("other/dist");
      write("other/dist/a.js");
      symlinkSync("other", at("new"));
      renameSync(at("new"), at("link"));
    },
    () => write("other/dist/a.js", "y"),
  ],
  "a file behind a link": ["link/dist/a.js", () => write("lib/dist/a.js", "y")],
  "a link that dangles": ["dangling", () => write("nothing"), () => unlinkSync(at("nothing"))],
};

test.each(Object.entries(cases))("%s", async (_, [path, ...steps]) => {
  make("lib/dist");
  write("lib/dist/a.js");
  symlinkSync("lib", at("link"));
  symlinkSync("nothing", at("dangling"));
  // The target of a link is watched as well, as a build names it.
  watched.watch([at(path), at("nothing")], Date.now());
  for (const step of steps) {
    told.clear();
    step();
    await expect.poll(() => [...told]).toContain(path);
  }
});

test("a change since the build began is told, and an older one is not", async () => {
  make("lib");
  write("lib/a.js");
  watched.watch([at("lib/a.js"), at("lib/b.js")], Date.now() + 60_000);
  expect([...told]).toEqual([]);
  write("lib/c.js");
  watched.watch([at("lib/a.js"), at("lib/b.js"), at("lib/c.js")], 0);
  expect([...told]).toEqual(["lib/c.js"]);
  // The same files again, and one of them changed while nothing was watched.
  watched.close();
  write("lib/b.js");
  watched.watch([at("lib/a.js"), at("lib/b.js"), at("lib/c.js")], Date.now() + 60_000);
  expect([...told]).toContain("lib/b.js");
});

test("other files beside it are not told", async () => {
  make("lib");
  write("lib/a.js");
  watched.watch([at("lib/a.js")], Date.now() + 60_000);
  write("lib/b.js");
  write("c.js");
  write("lib/a.js", "y");
  await expect.poll(() => [...told]).toContain("lib/a.js");
  expect([...told]).toEqual(["lib/a.js"]);
});

test("a link to a file that has links is no change of it", async () => {
  make("store", "lib");
  write("store/a.js");
  linkSync(at("store/a.js"), at("lib/a.js"));
  write("lib/b.js");
  watched.watch([at("lib/a.js"), at("lib/b.js")], Date.now() + 1_000);
  linkSync(at("store/a.js"), at("store/other.js"));
  // All files are compared after an event.
  write("lib/b.js", "y");
  await expect.poll(() => [...told]).toEqual(["lib/b.js"]);
  write("lib/a.js", "y");
  await expect.poll(() => [...told].sort()).toEqual(["lib/a.js", "lib/b.js"]);
});
