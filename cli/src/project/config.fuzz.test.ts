/**
 * Properties that hold for any text of `tenon.toml` and any environment. Tests run this briefly; `TENON_FUZZ_SECONDS`
 * prolongs it (`scripts/fuzz.mjs`), and `TENON_FUZZ_SEED` repeats a run.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Runtime } from "../embed/runtime.ts";
import { TenonError } from "../errors.ts";
import { limits } from "../limits.ts";
import { sidecarProblem } from "./config/addresses.ts";
import { sidecarValueProblem } from "./config/in-process.ts";
import { variableOf } from "./config/key.ts";
import { sections } from "./config/keys.ts";
import { type Config, type Environment, parseConfig } from "./config.ts";

const seconds = Number(process.env["TENON_FUZZ_SECONDS"] ?? 1);
const seed = Number(process.env["TENON_FUZZ_SEED"] ?? Date.now());
const timed = { seed, numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: seconds * 1000 };
const patience = seconds * 1000 + 30_000;

/** The configuration, or the message of the one error that may be thrown. */
function outcome(text: string, environment: Environment = {}): { config: Config } | { message: string } {
  try {
    return { config: parseConfig(text, "tenon.toml", environment) };
  } catch (error) {
    expect(error).toBeInstanceOf(TenonError);
    expect((error as TenonError).code).toBe("CONFIG");
    return { message: (error as Error).message };
  }
}

const keys = Object.entries(sections).flatMap(([section, { ...rest }]) => [
  section,
  ...("keys" in rest ? Object.keys(rest.keys) : []),
]);
const variables = Object.entries(sections).flatMap(([section, { ...rest }]) =>
  "keys" in rest ? Object.keys(rest.keys).map((key) => variableOf(section, key)) : [],
);
const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...keys) },
  fc.constantFrom("__proto__", "constructor", "toString", "db", "a-b", "a_b", "", '"a b"', "'x'", "1"),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const value = fc.oneof(
  fc.constantFrom(
    "true",
    "false",
    '"request"',
    '"http://db:5432"',
    '"unix:///a"',
    "[]",
    "{}",
    "1979-05-27",
    "nan",
    "-0",
  ),
  fc.integer().map(String),
  fc.double().map(String),
  fc.string({ unit: "binary", maxLength: 20 }).map((text) => JSON.stringify(text)),
  fc.array(fc.string({ maxLength: 6 }), { maxLength: 3 }).map((list) => JSON.stringify(list)),
  fc.string({ maxLength: 12 }),
  fc.tuple(name, fc.integer()).map(([key, number]) => `{ ${key} = ${number} }`),
);
const line = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(name, value).map(([key, given]) => `${key} = ${given}`) },
  fc.tuple(name, name, value).map(([section, key, given]) => `${section}.${key} = ${given}`),
  fc.tuple(name, fc.constantFrom("[", "[[")).map(([section, open]) => `${open}${section}${open === "[" ? "]" : "]]"}`),
  fc.string({ unit: "binary", maxLength: 30 }),
);
/** Text that is mostly TOML, with a piece of it cut out or doubled now and then. */
const toml = fc
  .tuple(
    fc.boolean(),
    fc.array(line, { maxLength: 12 }),
    fc.constantFrom("\n", "\r\n"),
    fc.option(fc.tuple(fc.nat(400), fc.nat(20), fc.boolean()), { freq: 4 }),
  )
  .map(([named, lines, end, damage]) => {
    const text = (named ? ["[project]", 'name = "demo"', ...lines] : lines).join(end);
    if (damage === null) return text;
    const [at, length, twice] = damage;
    return text.slice(0, at) + (twice ? text.slice(at, at + length).repeat(2) : "") + text.slice(at + length);
  });

test("a text is a configuration, or an error that names places of the text", { timeout: patience }, () => {
  let accepted = 0;
  const run = fc.check(
    fc.property(fc.oneof({ weight: 9, arbitrary: toml }, fc.string({ unit: "binary", maxLength: 400 })), (text) => {
      const result = outcome(text);
      if ("message" in result) {
        const lines = text.split("\n").length;
        const places = [...result.message.matchAll(/^tenon\.toml:(\d+):(\d+): /gm)];
        for (const [, row] of places) expect(Number(row)).toBeLessThanOrEqual(lines);
        expect(result.message).toMatch(/^tenon\.toml:/);
        return;
      }
      accepted++;
      checkAll(result.config);
      expect(outcome(text)).toEqual(result);
    }),
    timed,
  );
  report(run, `${accepted} of them accepted`);
});

/** The properties on which the rest of the program relies. */
function checkAll(config: Config): void {
  expect(config.project.name).not.toBe("");
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  for (const [key, limit] of Object.entries(limits)) {
    const property = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const number = (config.server as unknown as Record<string, number>)[property];
    expect(Number.isInteger(number) && Number(number) >= limit.min && Number(number) <= limit.max, key).toBe(true);
  }
  for (const sidecar of Object.values(config.sidecars)) expect(sidecarValueProblem(sidecar)).toBeUndefined();
  for (const [variable, text] of Object.entries(config.env)) {
    expect(variable).not.toMatch(/[=\0]/);
    expect(typeof text).toBe("string");
  }
}

test("a variable of the environment is taken, or refused without being repeated", { timeout: patience }, () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9:/@.]{8,20}$/).map((text) => `s3cr3t-${text}`);
  const variable = fc.oneof(
    fc.constantFrom(...variables, "TENON_SIDECARS_DB"),
    fc.tuple(name, name).map((parts) => `TENON_${parts.join("_")}`.toUpperCase()),
  );
  const run = fc.check(
    fc.property(fc.dictionary(variable, secret, { maxKeys: 4 }), toml, (environment, text) => {
      const result = outcome(text, environment);
      if ("message" in result && !text.includes("s3cr3t")) expect(result.message).not.toContain("s3cr3t");
    }),
    timed,
  );
  report(run);
});

test("the file and the runtime agree about addresses", { timeout: patience }, async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "http://",
      "https://",
      "unix://",
      "/",
      ":",
      "@",
      "[",
      "]",
      "::1",
      "db",
      "80",
      "65535",
      "?",
      "#",
      "%",
    ),
    fc.string({ unit: "binary", maxLength: 3 }),
  );
  const pieces = fc.array(piece, { maxLength: 5 }).map((all) => all.join(""));
  const address = fc
    .tuple(fc.constantFrom("", "http://", "http://db", "unix:///"), pieces)
    .map((both) => both.join(""));
  const run = await fc.check(
    fc.asyncProperty(address, async (text) => {
      const created = Runtime.create({ modules: [], sidecars: { db: text }, cacheFolder: false });
      const taken = await created.then(
        (runtime) => runtime.close().then(() => true),
        (error: TenonError) => {
          expect(error.code).toBe("CONFIG");
          return false;
        },
      );
      expect(taken, JSON.stringify(text)).toBe(sidecarProblem(text) === undefined);
    }),
    timed,
  );
  report(run);
});

/** Fails with the smallest counterexample; a longer run says how much was tried. */
function report<T>(run: fc.RunDetails<T>, more = ""): void {
  if (seconds > 1) process.stderr.write(`${run.numRuns} runs ${more}\n`);
  if (run.failed) throw new Error(fc.defaultReportMessage(run) ?? "it failed", { cause: run.errorInstance });
}
