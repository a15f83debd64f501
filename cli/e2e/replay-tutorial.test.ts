/** The tutorial of `docs/replay.md`: writes its files to an empty folder, and runs its commands, whose output is as on the page. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { send } from "./http.ts";
import { root, tenon } from "./servers.ts";

const example = join(root, "examples/shop/failing-order");

/** Matches a text of the page, where `…` is any text. */
const asWritten = (text: string) =>
  new RegExp(
    `^${text
      .trim()
      .split("…")
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join("[\\s\\S]*?")}$`,
  );

test("the tutorial does what it says", { timeout: 300_000 }, async () => {
  const page = await readFile(join(root, "docs/replay.md"), "utf8");
  const [, section = ""] = /^## Tutorial[^\n]*\n([\s\S]*?)^## /m.exec(page) ?? [];
  const blocks = [...section.matchAll(/^```(\S+) ?(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", info = "", code = ""]) => ({ language, info, code }),
  );
  expect(blocks.map(({ language }) => language).join(" ")).toBe("toml sql ts sh sh sh text sh text sh text ts sh text");

  // Inside the clone, where the handler finds the SDK.
  await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
  const folder = await mkdtemp(join(root, "cli/e2e/.tenon/tutorial-"));
  const port = String(await freePort());
  let server: ReturnType<typeof spawn> | undefined;
  onTestFinished(async () => {
    server?.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });
  const here = (text: string) => text.replaceAll("3000", port);
  let printed = "";
  for (const { language, info, code } of blocks) {
    if (language === "text") {
      expect(printed.trim()).toMatch(asWritten(code));
    } else if (info.startsWith("line ")) {
      const file = join(folder, "src/handler.ts");
      const lines = (await readFile(file, "utf8")).split("\n");
      lines[Number(info.slice("line ".length)) - 1] = code.trimEnd();
      await writeFile(file, lines.join("\n"));
    } else if (language !== "sh") {
      expect([info, code]).toEqual([info, await readFile(join(example, info), "utf8")]);
      await mkdir(dirname(join(folder, info)), { recursive: true });
      await writeFile(join(folder, info), here(code));
    } else if (info === "server") {
      server = spawn(process.execPath, [tenon, "run"], { cwd: folder, stdio: "ignore" });
      await vi.waitFor(() => send(`http://127.0.0.1:${port}`, { path: "/health" }), { timeout: 60_000, interval: 100 });
    } else {
      const command = here(code)
        .replaceAll("npx tenon", `"${process.execPath}" "${tenon}"`)
        .replaceAll("\ncurl", "\necho\ncurl");
      const { stdout, stderr } = spawnSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" });
      expect(stderr).not.toMatch(/error/i);
      printed = stdout;
      if (!code.includes("curl")) continue;
      // Recordings are written when it ends at the latest.
      const ended = once(server as ReturnType<typeof spawn>, "exit");
      server?.kill("SIGTERM");
      await ended;
    }
  }
});
