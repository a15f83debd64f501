/** The end of `tenon dev` where standard input is not a terminal, such as under a process manager. */
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { developing, project } from "./develop.ts";
import { tenon } from "./servers.ts";

developing();

test("Ctrl-C says what it waits for, and a second one ends at once", async () => {
  const port = await freePort();
  const handler = `import { get, routes, sse } from "@tenon/sdk";
export default routes({
  events: get("/", () => sse(async function* () {
    yield { data: "first" };
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  })),
});
`;
  const cwd = await project("stops", handler, `[server]\nport = ${port}\n`);
  const child = spawn(process.execPath, [tenon, "dev"], { cwd, stdio: ["ignore", "ignore", "pipe"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  try {
    let said = "";
    child.stderr.on("data", (data) => {
      said += data;
    });
    const url = `http://127.0.0.1:${port}/run/stops/`;
    await expect.poll(() => said).toContain(`Serve ${url}`);
    const answer = await fetch(url);
    const reader = answer.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain("data: first");
    child.kill("SIGINT");
    await expect.poll(() => said).toContain("Stop after running requests; Ctrl-C again stops at once\n");
    expect(child.exitCode).toBeNull();
    child.kill("SIGINT");
    expect(await exited).toBe(130);
    await reader?.cancel().catch(() => undefined);
  } finally {
    child.kill("SIGKILL");
  }
});

test("Ctrl-C during the first build announces no server", async () => {
  const port = await freePort();
  const handler = `import { get, ok, routes } from "@tenon/sdk";
export default routes({ a: get("/", () => ok(1)) });
`;
  const cwd = await project("begins", handler, `[server]\nport = ${port}\n`);
  const child = spawn(process.execPath, [tenon, "dev"], { cwd, stdio: ["ignore", "ignore", "pipe"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  try {
    let said = "";
    child.stderr.on("data", (data) => {
      said += data;
    });
    const status = () =>
      fetch(`http://127.0.0.1:${port}/run/begins/`).then(
        (answer) => answer.status,
        () => undefined,
      );
    await expect.poll(status, { interval: 5 }).toBe(503);
    child.kill("SIGINT");
    expect(await exited).toBe(130);
    expect(said).not.toContain("Serve ");
  } finally {
    child.kill("SIGKILL");
  }
});
