/**
 * Tests that need programs. Without them, the tests are skipped, and {@link LeftOut} prints the reason at the end of
 * the run. With `CI` set they fail instead, unless `TENON_LEAVE_OUT` names the program.
 */
import { describe, type TestFunction, test } from "vitest";
import { findProgram, howToInstall, type ProgramName } from "./programs.ts";

declare module "vitest" {
  interface TaskMeta {
    /** The missing programs for which the test is skipped. */
    missing?: readonly ProgramName[];
  }
}

/** One program, several, or none. */
export type Needs = ProgramName | readonly ProgramName[];

/** `describe` for tests that need programs. The suite's function always runs, because it declares the skipped tests. */
export function describeWith(needs: Needs, name: string, suite: () => void): void {
  const missing = missingOf(needs);
  if (missing.length === 0) describe(name, suite);
  else if (isFailure(missing)) describe(name, () => failing(missing));
  else describe(name, { skip: true, meta: { missing } }, suite);
}

/** `describe.each` for cases that may need programs. `$key` in the name is replaced by that property of the case. */
export function describeEach<C extends { readonly needs?: Needs }>(
  name: string,
  cases: readonly C[],
  suite: (each: C) => void,
): void {
  for (const each of cases) {
    const own = name.replace(/\$(\w+)/g, (_, key) => String(each[key as keyof C]));
    describeWith(each.needs ?? [], own, () => suite(each));
  }
}

/** `test` for a test that needs programs. */
export function testWith(needs: Needs, name: string, run: TestFunction): void {
  const missing = missingOf(needs);
  if (missing.length === 0) test(name, run);
  else if (isFailure(missing)) describe(name, () => failing(missing));
  else test(name, { skip: true, meta: { missing } }, run);
}

function missingOf(needs: Needs): ProgramName[] {
  const names = typeof needs === "string" ? [needs] : needs;
  return names.filter((name) => findProgram(name) === undefined);
}

function isFailure(missing: readonly ProgramName[]): boolean {
  const { CI, TENON_LEAVE_OUT = "" } = process.env;
  const mayBeMissing = TENON_LEAVE_OUT.split(/[ ,]+/);
  return Boolean(CI) && missing.some((name) => !mayBeMissing.includes(name));
}

function failing(missing: readonly ProgramName[]): void {
  test.each(missing)("%s is installed", (name) => {
    throw new Error(`${name} is not installed; install it: ${howToInstall(name)}`);
  });
}
