// End-to-end suites of what depends on the system: routes, exchange, streams, faults and embedding.
//
//   node scripts/cross/suites.mjs build           builds their components, which are the same for every system
//   node scripts/cross/suites.mjs list            prints the folders of the components
//   node scripts/cross/suites.mjs run [<suite>...]
//
// `run` needs the addon in bindings/, and the components.
import { pathToFileURL } from "node:url";
import { exitCode, fail } from "../setup.mjs";

export const suites = ["routes", "exchange", "streams", "faults", "embedding"];

/** Folders of a tree with components, as patterns. */
const built = [
  "cli/e2e/fixtures/*/dist",
  "cli/e2e/.tenon/reference/*/dist",
  "examples/hello/dist",
  "ts-sdk/test/openapi/every/dist",
];

const vitest = ["node_modules/vitest/vitest.mjs", "run", "--project", "e2e"];
const files = (names) => names.map((name) => `cli/e2e/${name}.test.ts`);

/** Arguments of Node that build the components: Vitest's set-up does, and no test runs. */
export const building = [...vitest, "--passWithNoTests", "-t", "none of them", ...files(suites.slice(0, 1))];

/** Other servers than Tenon's, and components with another engine. */
const others = ["jco serve", "wasmtime serve", "made by componentize-js", "whoever made the component"];

/** Tests that cannot pass on Windows. */
const beyondWindows = [
  // They read the memory or the open files of a process in /proc.
  "100 MB pass in little memory",
  "an upload passes in little memory",
  "a stream as large as ten times the limit of buffers",
  "are replaced before what they leak fills them",
  "after 2000 mixed requests nothing is leaked",
  "a runtime that is closed frees its modules at once, and can still be read",
  // They end a process by a signal that it handles. Windows sends none to a process without a console.
  "a stream ends with the server, after the time",
  "a server keeps Node alive until it is closed",
  "beside an Express app",
];

/** Tests that cannot pass under wine: it sends no more than 1,024 pieces at once. */
const beyondWine = ["a body in many small pieces"];

/** Tests that an emulated processor is too slow for: they move hundreds of megabytes, or have deadlines of a second. */
const beyondEmulation = [
  "100 MB pass in little memory",
  "an upload passes in little memory",
  "a stream as large as ten times the limit of buffers",
  "instances serve on",
  "the bytes of a stream, and the time between its pieces",
  "signals and readers end the call",
];

/** Returns the arguments and variables of Node that run suites on a system, `wine` instead of `win32` under wine. */
export function running(names = suites, system = process.platform, isEmulated = false) {
  const beyond = { win32: beyondWindows, wine: [...beyondWindows, ...beyondWine] }[system] ?? [];
  const ours = `^(?!.*(?:${[...others, ...beyond, ...(isEmulated ? beyondEmulation : [])].join("|")}))`;
  return {
    args: [...vitest, "-t", ours, ...files(names)],
    env: { CI: "true", TENON_LEAVE_OUT: "wasmtime", NO_COLOR: "1", ...(isEmulated ? { TENON_EMULATED: "1" } : {}) },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [command, ...names] = process.argv.slice(2);
  for (const name of names) if (!suites.includes(name)) fail(`${name} must be one of ${suites.join(", ")}`);
  if (command === "list") console.log(built.join("\n"));
  else if (command === "build") process.exit(exitCode(process.execPath, building));
  else if (command === "run") {
    const { args, env } = running(names.length > 0 ? names : suites);
    process.exit(exitCode(process.execPath, args, { env: { ...process.env, ...env } }));
  } else fail("name a command: build, list or run");
}
