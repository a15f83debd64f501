import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const program = fileURLToPath(new URL("../../bin/tenon.js", import.meta.url));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tenon-eval-"));
  writeFileSync(
    join(folder, "double.ts"),
    'export default ({ n }: { n: number }) => {\n  console.log("n is", n);\n  return { n: n * 2 };\n};\n',
  );
  writeFileSync(join(folder, "wrong.ts"), "const a: number = 1;\nthrow new RangeError('no');\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (args: string[], input: string | Buffer = "") => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "eval", ...args], {
    cwd: folder,
    encoding: "utf8",
    input,
    env: { ...process.env, NO_COLOR: "1" },
  });
  return { status, stdout, stderr };
};

test("tenon eval prints a value, and the log apart", { timeout: 300_000 }, () => {
  expect(run(["double.ts", "--input", '{"n": 4}'])).toEqual({
    status: 0,
    stdout: '{\n  "n": 8\n}\n',
    stderr: "n is 4\n",
  });
  expect(run(["double.ts", "--input", "-"], '{"n": 5}')).toMatchObject({ status: 0, stdout: '{\n  "n": 10\n}\n' });
  expect(run(["-"], "1 + 1")).toEqual({ status: 0, stdout: "2\n", stderr: "" });
  expect(run(["-e", "process.env.A", "--env", "A=b=c"])).toMatchObject({ status: 0, stdout: '"b=c"\n' });
  const { status, stdout } = run(["-e", "console.log('x'); 1", "--json"]);
  expect([status, JSON.parse(stdout)]).toEqual([
    0,
    { ok: true, value: 1, logs: [{ level: "info", message: "x" }], usage: expect.any(Object) },
  ]);
});

test("tenon eval lets no control sequence of a script reach the terminal", { timeout: 300_000 }, () => {
  const thrown = run(["-e", "throw Object.assign(new Error('\\x1b]0;a\\x07\\rb\\x9b'), { name: '\\x1b[31m' })"]);
  expect(thrown.stderr).toContain("\\u{1b}[31m: \\u{1b}]0;a\\u{7}\\u{d}b\\u{9b}");
  const values = [
    ["-e", "'\\x1b\\x9b\\x7f'"],
    ["-e", "throw '\\x1b\\x9b\\x7f'", "--json"],
  ];
  for (const { stdout } of values.map((args) => run(args))) expect(stdout).toContain('"\\u001b\\u009b\\u007f"');
});

test("tenon eval fails with the place, the limit, or the wrong usage", { timeout: 300_000 }, () => {
  const wrong = run(["wrong.ts"]);
  expect(wrong).toMatchObject({ status: 1, stdout: "" });
  expect(wrong.stderr).toContain("error: wrong.ts:2:7: RangeError: no");
  const limited = run(["-e", "for (;;);", "--cpu-ms", "30"]);
  expect(limited).toMatchObject({ status: 1, stderr: expect.stringContaining("cpuMs: ") });
  expect(limited.stderr).toContain("hint: --cpu-ms <n> sets the limit, which is 1000 by default");
  const long = run(["-", "--source-bytes", "5"], "1 + 1;");
  expect(long).toMatchObject({ status: 1, stderr: expect.stringContaining("sourceBytes: ") });
  expect(long.stderr).toContain("hint: --source-bytes <n> sets the limit, which is 1048576 by default");
  const refused = run(["-e", "await fetch('http://example.com')"]);
  expect(refused.stderr).toContain("hint: --allow http://example.com lets the script fetch from it");
  const imports = run(["-"], "\nimport fs from 'fs'");
  expect(imports.stderr).toMatch(/^error: \[stdin\]:2:16: .*"fs".*\nhint: .*bundle it with its modules\n$/);
  expect(run(["-e", "1", "--cpu-ms", "0"]).stderr).toBe("error: --cpu-ms must be a whole number from 1 to 3600000\n");
  for (const args of [
    [],
    ["absent.ts"],
    ["-e", "1", "--input", "{"],
    ["-e", "1", "--cpu-ms", "0"],
    ["-e", "1", "--calls", "x"],
    ["-e", "1", "wrong.ts"],
  ])
    expect(run(args), args.join(" ")).toMatchObject({ status: 2, stdout: "" });
});

test("tenon eval reads texts in UTF-8 only", { timeout: 300_000 }, () => {
  const bytes = Buffer.from([0x22, 0xff, 0x22]);
  writeFileSync(join(folder, "binary.ts"), bytes);
  for (const [args, input, name] of [
    [["binary.ts"], "", "binary.ts"],
    [["-"], bytes, "standard input"],
    [["-e", "1", "--input", "-"], bytes, "standard input"],
  ] as const) {
    const stderr = `error: cannot read ${name}: it must be a text in UTF-8\n`;
    expect(run([...args], input)).toEqual({ status: 2, stdout: "", stderr });
  }
});
