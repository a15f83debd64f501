import { homedir } from "node:os";
import { expect, test } from "vitest";
import { defaultCacheFolder } from "./cache-folder.ts";

test("the folder of compiled code is in the system's place for caches", () => {
  expect(defaultCacheFolder({}, "linux")).toBe(`${homedir()}/.cache/tenon`);
  expect(defaultCacheFolder({}, "darwin")).toBe(`${homedir()}/Library/Caches/tenon`);
  const LOCALAPPDATA = "C:\\Users\\ada\\AppData\\Local";
  expect(defaultCacheFolder({ LOCALAPPDATA }, "win32")).toBe(`${LOCALAPPDATA}\\tenon`);
  expect(defaultCacheFolder({}, "win32")).toMatch(/\\AppData\\Local\\tenon$/);
});

test("variables win, if they name an absolute path", () => {
  expect(defaultCacheFolder({ TENON_CACHE_DIR: "own", XDG_CACHE_HOME: "/x" }, "linux")).toBe("own");
  expect(defaultCacheFolder({ TENON_CACHE_DIR: "", XDG_CACHE_HOME: "/x" }, "linux")).toBe("/x/tenon");
  expect(defaultCacheFolder({ XDG_CACHE_HOME: "x" }, "linux")).toBe(`${homedir()}/.cache/tenon`);
  expect(defaultCacheFolder({ XDG_CACHE_HOME: "D:\\x" }, "win32")).toBe("D:\\x\\tenon");
});
