import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import type { TapeView } from "./tapes.ts";
import { replayUntil } from "./until.ts";

test("the module of a stranger's recording writes no escapes", async () => {
  const hello = fileURLToPath(new URL("../../../examples/hello", import.meta.url));
  vi.spyOn(process, "cwd").mockReturnValue(hello);
  const view = { module: "\u001b[2Jother" } as TapeView;
  await expect(replayUntil(Buffer.alloc(0), view, "src/handler.ts:1")).rejects.toThrow(
    "the recording must be of this project, hello: it is of the module \\u{1b}[2Jother",
  );
});
