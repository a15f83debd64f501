/** The checks of the options of sandboxes and of evaluations. */
import {
  check,
  checkKind,
  isRecord,
  type OptionCheck,
  problemsBelow,
  problemsOf,
  refuse,
  textsByName,
} from "../embed/option-checks.ts";
import { TenonError } from "../errors.ts";
import { sections } from "../project/config/keys.ts";
import { textList } from "../project/config/kinds.ts";
import { limitProblems } from "./limits.ts";
import type { EvaluateOptions, SandboxOptions } from "./sandbox.ts";
import { isSchema, toolProblems } from "./tool.ts";

const checkTools: OptionCheck = (path, value) =>
  isRecord(value) ? toolProblems(value) : [`\`${path}\` must be an object of tools by their names`];

const checkAny: OptionCheck = () => [];

const sandboxChecks: Readonly<Record<keyof SandboxOptions, OptionCheck>> = {
  tools: checkTools,
  limits: (path, value) => (isRecord(value) ? limitProblems(value) : [`\`${path}\` must be an object of limits`]),
  outbound: (path, value) =>
    isRecord(value)
      ? problemsBelow(path, value, { allow: checkKind(textList) })
      : [`\`${path}\` must be an object with the list \`allow\``],
  env: textsByName("an object of strings by the names of variables", sections.env.names),
  input: check("a schema", isSchema),
  onToolError: check("a function", (value) => typeof value === "function"),
};

const isSignal = (value: unknown) =>
  value === null || typeof (value as Partial<AbortSignal>).addEventListener === "function";

const evaluateChecks: Readonly<Record<keyof EvaluateOptions, OptionCheck>> = {
  input: checkAny,
  signal: check("an AbortSignal", isSignal),
  tools: checkTools,
  context: checkAny,
};

/** @throws TenonError `CONFIG`, naming every wrong option */
export function refuseWrongSandbox(options: SandboxOptions): void {
  if (!isRecord(options)) throw new TenonError("CONFIG", "the options of `runtime.sandbox` must be an object");
  refuse(
    problemsOf(options, sandboxChecks, (name) =>
      Object.hasOwn(evaluateChecks, name) ? "an option of `evaluate`" : undefined,
    ),
  );
}

/** @throws TenonError `CONFIG`, naming every wrong option */
export function refuseWrongEvaluation(options: EvaluateOptions): void {
  if (!isRecord(options)) throw new TenonError("CONFIG", "the options of `evaluate` must be an object");
  refuse(
    problemsOf(options, evaluateChecks, (name) =>
      Object.hasOwn(sandboxChecks, name) ? "an option of `runtime.sandbox`" : undefined,
    ),
  );
}
