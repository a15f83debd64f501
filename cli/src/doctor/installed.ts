/** Checks of the installation: Node, Tenon's packages, and the engine for builds. */

import { buildPackageFrom } from "../building.ts";
import type { TenonError } from "../errors.ts";
import { native } from "../native.ts";
import { buildPackage, commandPackage, isComplete, packageFolder, requiredNode, version } from "../package.ts";
import { engineVersion, installedVersion, wasmtimeVersion } from "../versions.ts";
import { type Check, error, note, ok } from "./check.ts";

/** Checks the installation of the running command. */
export function installationChecks(): Check[] {
  return [
    ok("tenon", `${version}, in ${packageFolder}`),
    nodeCheck(process.versions.node),
    addonCheck(),
    engineCheck(),
  ];
}

/** @param running such as `22.4.1` */
export function nodeCheck(running: string): Check {
  if (isAtLeast(running, requiredNode)) return ok("Node", running);
  return error("Node", `${running}, and Tenon needs ${requiredNode}`, "install a newer Node: https://nodejs.org");
}

function addonCheck(): Check {
  const installed = installedVersion("@tenon/native");
  const platform = `${process.platform}-${process.arch}`;
  try {
    native();
  } catch (thrown) {
    const { message, hint, cause } = thrown as TenonError;
    return error("addon", [message, ...loadProblems(cause)].join(": "), hint);
  }
  if (installed !== undefined && installed !== version) {
    return error(
      "addon",
      `@tenon/native ${installed}, which belongs to another version of tenon`,
      `npm install ${commandPackage}@${version}, or remove node_modules and install again`,
    );
  }
  return ok("addon", `@tenon/native ${installed ?? version} with wasmtime ${wasmtimeVersion}, for ${platform}`);
}

/** Returns the reasons why an existing addon cannot be loaded, such as a C library that is too old. */
function loadProblems(cause: unknown): string[] {
  if (!(cause instanceof Error)) return [];
  const [line = ""] = cause.message.split("\n");
  return /^Cannot find/.test(line) ? loadProblems(cause.cause) : [line];
}

function engineCheck(): Check {
  if (!isComplete) {
    const found = buildPackageFrom(process.cwd());
    const hint = `npm install --save-dev ${buildPackage}@${version}`;
    if (found === undefined) return note("engine", `${buildPackage} is not installed, so nothing can be built`, hint);
    if (found.version !== version)
      return error("engine", `${buildPackage} ${found.version} belongs to another version`, hint);
  }
  return ok("engine", `QuickJS-ng ${engineVersion}`);
}

/** Compares versions by major, minor and patch number. */
export function isAtLeast(found: string, wanted: string): boolean {
  const [a, b] = [found, wanted].map((text) => text.split(/[.-]/).map(Number));
  for (let at = 0; at < 3; at++) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
