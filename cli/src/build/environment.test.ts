import { expect, test } from "vitest";
import { BuildEnvironment, ReadsEnvironment } from "./environment.ts";

const line = (name: string) => `tenon-environment ${JSON.stringify(name)} Error     at get (app.js:1:2)`;

test("a component gets the variables that its top level reads, and no others", () => {
  const environment = new BuildEnvironment({ A: "1", B: "2", C: "3" }, { KEY: "env:KEY" });
  environment.requireAll("printed by the app\n");
  expect(environment.variables).toEqual({});
  expect(() => environment.requireAll(`x\n${line("A")}\n${line("ABSENT")}\n`)).toThrow(ReadsEnvironment);
  expect(environment.variables).toEqual({ A: "1" });
  // It has it now.
  environment.requireAll(line("A"));
  expect(() => environment.requireAll(line("*"))).toThrow(ReadsEnvironment);
  expect(environment.variables).toEqual({ A: "1", B: "2", C: "3" });
});

test("a failed top level is told what [env] lacks", () => {
  const environment = new BuildEnvironment({ A: "1" }, { KEY: "env:KEY" });
  expect(environment.hint(line("A"))).toBeUndefined();
  expect(environment.hint(`${line("A")}\n${line("PORT")}`)).toContain("[env] of tenon.toml, which lacks PORT");
  expect(environment.hint(`${line("KEY")}\n${line("PORT")}`)).toContain("no secrets (KEY)");
});
