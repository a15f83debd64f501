/** Recordings of `tenon run`, and their replays by `tenon replay`. */
import { spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../src/embed/runtime.ts";
import { send } from "./http.ts";
import { echoProject, helloProject, type Running, startTenon, tenon } from "./servers.ts";

const [hello, echo] = [join(helloProject, "dist/hello.wasm"), join(echoProject, "dist/echo.wasm")];
let folder: string;
let running: Running;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-replay-"));
  await mkdir(join(folder, "dist"));
  await copyFile(hello, join(folder, "dist/app.wasm"));
  await writeFile(
    join(folder, "tenon.toml"),
    `[project]
name = "app"
[record]
folder = "recordings"
share = 1
`,
  );
  running = await startTenon(["-v"], "app", folder);
});
afterAll(async () => {
  running?.process.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

const command = (...args: string[]) => spawnSync(process.execPath, [tenon, ...args], { cwd: folder, encoding: "utf8" });

test("a request is recorded, shown, replayed, compared and exported", async () => {
  const headers: [string, string][] = [
    ["authorization", "Bearer CANARY-0123456789"],
    ["x-request-id", "recorded-1"],
  ];
  const answer = await send(running.base, { path: "/run/app/hello/you?n=1", headers });
  expect(answer.status).toBe(200);
  const recordings = join(folder, "recordings");
  const tapes = async () => (await readdir(recordings)).filter((name) => name.endsWith(".tape"));
  await expect.poll(tapes).toHaveLength(1);
  const files = await tapes();
  const file = join(recordings, files[0] as string);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(recordings)).mode & 0o777).toBe(0o700);
  expect((await readFile(file)).includes("CANARY")).toBe(false);

  const listed = command("record", "show");
  expect(listed.stdout).toMatch(/^\S+\.tape {2}\S+ app 200 [0-9.]+ ms recorded-1 \(share, masked: authorization\)\n$/);
  const shown = JSON.parse(command("record", "show", file, "--json").stdout);
  expect(shown).toMatchObject({ module: "app", requestId: "recorded-1", status: 200, masked: ["authorization"] });
  expect(shown.answer.body).toBe(answer.body.toString());

  expect(command("record", "show", "recorded-1", "--json").stdout).toBe(`${JSON.stringify(shown)}\n`);
  await mkdir(join(folder, "empty"));
  const empty = command("record", "show", "empty");
  expect([empty.status, empty.stdout, empty.stderr]).toEqual([
    0,
    "",
    expect.stringContaining("no recordings in empty"),
  ]);

  const same = command("replay", "recordings");
  expect([same.stdout, same.status]).toEqual([`${files[0]}: same\n`, 0]);
  const told = JSON.parse(command("replay", file, "--module", hello, "--json").stdout);
  expect(told).toMatchObject({ file, requestId: "recorded-1", verdict: "same", comparedMemory: expect.any(Boolean) });

  expect(command("replay", "recorded-1")).toMatchObject({ status: 0, stdout: `${files[0]}: same\n` });

  // The same build, and another program.
  expect(command("replay", file, "--against", hello)).toMatchObject({ status: 0, stdout: `${files[0]}: same\n` });
  const other = command("replay", file, "--against", echo);
  expect(other.status).toBe(1);
  expect(other.stdout).toMatch(/: different\n {2}\S/);
  const wrong = command("replay", file, "--module", echo);
  expect([wrong.status, wrong.stderr]).toEqual([
    1,
    expect.stringMatching(/: the recording is of another component, whose digest is [0-9a-f]{64}\nhint: --against /),
  ]);

  const exported = command("record", "export", "recorded-1", "-o", "sent.tape");
  expect(exported.status).toBe(0);
  expect(await readFile(join(folder, "sent.tape"))).toEqual(await readFile(file));

  // A damaged file is refused.
  const bytes = await readFile(file);
  bytes[bytes.length - 20] = (bytes[bytes.length - 20] as number) ^ 1;
  await writeFile(join(folder, "damaged.tape"), bytes);
  const damaged = command("replay", "damaged.tape");
  expect([damaged.status, damaged.stderr]).toEqual([1, expect.stringContaining("its checksum does not match")]);
  const described = command("replay", "damaged.tape", "--json");
  expect([described.status, JSON.parse(described.stdout)]).toEqual([
    1,
    { file: "damaged.tape", verdict: "failed", failure: expect.stringContaining("its checksum does not match") },
  ]);
  // A file that is no component is named as it was given.
  const none = command("replay", file, "--module", "tenon.toml");
  expect([none.status, none.stderr]).toEqual([1, expect.stringMatching(/^error: tenon.toml is not a component/)]);

  // Beside others it is reported, and the others are replayed.
  await writeFile(join(recordings, "0-damaged.tape"), bytes);
  await mkdir(join(recordings, "1-folder.tape"));
  for (const args of [[], ["--module", hello], ["--against", hello]]) {
    const all = command("replay", "recordings", ...args);
    const [first, why, ...rest] = all.stdout.split("\n");
    expect([first, rest.at(-2), all.status]).toEqual(["0-damaged.tape: cannot be replayed", `${files[0]}: same`, 1]);
    expect(why).toContain("its checksum does not match");
    expect(all.stderr).toContain("1 same, 0 different");
    expect(all.stderr).toContain(", 2 cannot be replayed");
  }
  const [failed] = command("replay", "recordings", "--json").stdout.split("\n");
  expect(JSON.parse(failed as string)).toMatchObject({
    verdict: "failed",
    failure: expect.stringContaining("checksum"),
  });
  const list = command("record", "show");
  expect([list.stdout.split("\n").length, list.status]).toEqual([4, 1]);
  expect(command("record", "export", "recorded-1", "-o", "sent.tape").status).toBe(0);
  // With recordings of another module beside it, its own are compared, by the name of the build; a damaged one names no module.
  const others = await Runtime.create({ modules: [echo], logLevel: "off", record: { folder: recordings, share: 1 } });
  await (await others.fetch(new Request("http://tenon/run/echo/"))).text();
  await others.close();
  await copyFile(hello, join(folder, "app.wasm"));
  const own = command("replay", "recordings", "--against", "app.wasm");
  expect(own.stdout).toContain(`${files[0]}: same\n`);
  expect(own.stderr).toContain(
    "1 same, 0 different, 0 asked for something new, 2 cannot be replayed; 1 of other modules left out",
  );
  const ofNone = command("replay", "recordings", "--against", hello);
  expect([ofNone.status, ofNone.stderr]).toEqual([2, expect.stringContaining("the recordings are of app, echo")]);
  // A build that cannot be loaded is no failure of the recordings.
  for (const option of ["--against", "--module"]) {
    const absent = command("replay", "recordings", option, "none.wasm");
    const stderr = "error: cannot read none.wasm: there is no such file or folder\n";
    expect(absent).toMatchObject({ status: 2, stdout: "", stderr });
  }
  await rm(join(recordings, "1-folder.tape"), { recursive: true });

  expect(command("record", "prune", "--max-bytes", "0").status).toBe(0);
  expect((await readdir(recordings)).filter((name) => name.endsWith(".tape"))).toEqual([]);
});

test("a program records as the command does, and refuses wrong options", async () => {
  const own = join(folder, "own");
  const runtime = await Runtime.create({
    modules: [hello],
    logLevel: "off",
    record: { folder: own, share: 1, mask: ["x-key", "#/card/number"] },
  });
  const answer = await runtime.fetch(
    new Request("http://tenon/run/hello/hello/you", { headers: { "x-key": "CANARY-77" } }),
  );
  expect(answer.status).toBe(200);
  await answer.text();
  await runtime.close();
  const [name] = (await readdir(own)).filter((each) => each.endsWith(".tape"));
  expect((await readFile(join(own, name as string))).includes("CANARY")).toBe(false);
  expect(command("replay", join(own, name as string), "--module", hello).status).toBe(0);

  // In the project of its sources, the values at a line.
  const until = (...args: string[]) =>
    spawnSync(process.execPath, [tenon, "replay", join(own, name as string), ...args], {
      cwd: helloProject,
      encoding: "utf8",
    });
  const line =
    (await readFile(join(helloProject, "src/handler.ts"), "utf8"))
      .split("\n")
      .findIndex((text) => text.includes("ok({ greeting:")) + 1;
  const found = until("--until", `src/handler.ts:${line}`, "--print", "path.name, [path.name.length]");
  expect([found.stdout, found.stderr]).toEqual([
    `${name}: src/handler.ts:${line} was reached once\n    1  path.name = "you"\n       [path.name.length] = [3]\n`,
    "",
  ]);
  const changed = until("--until", `src/handler.ts:${line}`, "--print", "fetch('http://a')");
  expect([changed.status, changed.stderr]).toEqual([
    2,
    expect.stringContaining("--print must not change what the request does"),
  ]);
  const never = until("--until", "src/handler.ts:1", "--json");
  expect([never.status, JSON.parse(never.stdout)]).toEqual([1, expect.objectContaining({ reached: 0, near: [line] })]);
  const wrong = Runtime.create({ modules: [hello], record: { folder: own, share: 2, mask: ["#card"] } });
  await expect(wrong).rejects.toThrow(/`record.share` must be a number from 0 to 1[\s\S]*`record.mask` has an entry/);
});

test("a server that is killed leaves recordings that can be read", async () => {
  const killed = await startTenon([], "app", folder);
  const asking = Array.from({ length: 60 }, (_, n) =>
    send(killed.base, { path: `/run/app/hello/you?n=${n}` }).catch(() => undefined),
  );
  // Recordings are written after the answers.
  const isWritten = async () => (await readdir(join(folder, "recordings"))).some((name) => name.endsWith(".tape"));
  await expect.poll(isWritten, { interval: 1 }).toBe(true);
  killed.process.kill("SIGKILL");
  await Promise.all(asking);
  const replayed = command("replay", "recordings", "--json");
  expect([replayed.status, replayed.stderr]).toEqual([0, expect.stringMatching(/[0-9]+ same, 0 different/)]);
});
