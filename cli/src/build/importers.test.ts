import { join } from "node:path";
import type { OnResolveArgs } from "esbuild";
import { expect, test } from "vitest";
import { Importers } from "./importers.ts";

const inPackage = (name: string, file = "index.js") => join("/p/node_modules", name, file);

test("the way from the user's sources to a package is the shortest one", () => {
  const importers = new Importers();
  const note = (importer: string, path: string) => importers.note({ importer, path } as OnResolveArgs);
  note("/p/src/db.ts", "@acme/orm/pg");
  note(inPackage("@acme/orm"), "pg");
  note(inPackage("pg"), "pg-pool");
  note(inPackage("pg-pool"), "pg");
  note(inPackage("pg", "lib/a.js"), "node:net");
  expect(importers.chainTo(inPackage("pg", "lib/a.js"))).toMatch(/src\/db\.ts imports @acme\/orm, which imports pg$/);
  expect(importers.chainTo(inPackage("@acme/orm"))).toMatch(/src\/db\.ts imports @acme\/orm$/);
  expect(importers.chainTo("/p/src/db.ts")).toBeUndefined();
  expect(importers.chainTo(inPackage("unknown"))).toBeUndefined();
});
