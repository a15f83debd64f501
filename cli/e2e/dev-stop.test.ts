/** The end of `tenon dev` where standard input is not a terminal, such as under a process manager. */
import { type ChildProcess, spawn } from "node:child_process";
import { expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { developing, project } from "./develop.ts";
import { tenon } from "./servers.ts";

developing();

/** Starts `tenon dev` for a handler, and passes on its port and all that it says. It is killed at the end. */
async function developed(
  name: string,
  handler: string,
  check: (dev: { child: ChildProcess; exited: Promise<unknown>; url: string; said(): string }) => Promise<void>,
): Promise<void> {
  const port = await freePort();
  const cwd = await project(name, handler, `[server]\nport = ${port}\n`);
  const child = spawn(process.execPath, [tenon, "dev"], { cwd, stdio: ["ignore", "ignore", "pipe"] });
  const exited = new Promise((resolve) => child.once("close", resolve));
  try {
    let said = "";
    child.stderr.on("data", (data) => {
      said += data;
    });
    await check({ child, exited, url: `http://127.0.0.1:${port}/run/${name}/`, said: () => said });
  } finally {
    child.kill("SIGKILL");
  }
}

test("Ctrl-C says what it waits for, and a second one ends at once", async () => {
  const handler = `import { get, routes, sse } from "@tenon/sdk";
export default routes({
  events: get("/", () => sse(async function* () {
    yield { data: "first" };
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  })),
});
`;
  await developed("stops", handler, async ({ child, exited, url, said }) => {
    await expect.poll(said).toContain(`Serve ${url}`);
    const answer = await fetch(url);
    const reader = answer.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain("data: first");
    child.kill("SIGINT");
    await expect.poll(said).toContain("Stop after running requests; Ctrl-C again stops at once\n");
    expect(child.exitCode).toBeNull();
    child.kill("SIGINT");
    expect(await exited).toBe(130);
    await reader?.cancel().catch(() => undefined);
  });
});

test("Ctrl-C during the first build announces no server", async () => {
  const handler = `import { get, ok, routes } from "@tenon/sdk";
export default routes({ a: get("/", () => ok(1)) });
`;
  await developed("begins", handler, async ({ child, exited, url, said }) => {
    const status = () =>
      fetch(url).then(
        (answer) => answer.status,
        () => undefined,
      );
    await expect.poll(status, { interval: 5 }).toBe(503);
    child.kill("SIGINT");
    expect(await exited).toBe(130);
    expect(said()).not.toContain("Serve ");
  });
});
