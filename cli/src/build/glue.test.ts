import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { glueBefore, glueBlockSize } from "./glue.ts";

test("the block of arguments is as large here as in the engine", async () => {
  const source = await readFile(
    new URL("../../../crates/snapshot/src/starlingmonkey/arguments.rs", import.meta.url),
    "utf8",
  );
  const number = (name: string) => {
    const product = new RegExp(`const ${name}: \\w+ = ([\\d* ]+);`).exec(source)?.[1] ?? "";
    return product.split("*").reduce((so, far) => so * Number(far), 1);
  };
  expect([number("BLOCK"), number("BEFORE")]).toEqual([glueBlockSize, glueBefore]);
});
