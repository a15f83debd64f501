// Records requests to `examples/shop` once; then changes the shop in many ways (replay/regressions.mjs), builds each, and compares it with the
// recordings by `tenon replay --against`: each regression must be found, and no refactoring may be reported.
//
//   npm run build && node scripts/replay-regressions.mjs [--requests 300] [--seed 1] [--only "a lost await"] [--verbose]
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { report } from "../cli/dist/commands/replay.js";
import { Replayer } from "../cli/dist/replay/replayer.js";
import { record } from "./replay/record.mjs";
import { refactorings, regressions } from "./replay/regressions.mjs";
import { build, replace } from "./replay/server.mjs";
import { fail, root, say } from "./setup.mjs";
import { argumentsOf } from "./usage.mjs";

const { values } = argumentsOf(import.meta.url, {
  options: {
    requests: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});
const [requests, seed] = [Number(values.requests), Number(values.seed)];
const folder = join(root, "target/replay", `regressions-${seed}`);
mkdirSync(folder, { recursive: true });

say(`Recording ${requests} requests to the shop`);
const shop = build("examples/shop", join(folder, "shop"));
const { server } = await record(join(folder, "server"), { shop }, { count: requests, seed, atOnce: 4 });
const tapes = server.files().map((name) => readFileSync(join(server.recordings, name)));
if (server.leftOut.size > 0) fail(`requests were not recorded: ${[...server.leftOut.values()].join(", ")}`);

const all = [
  ...regressions.map(([name, file, from, to, more]) => ({
    name,
    isRegression: true,
    edits: { [file]: [[from, to], ...(more === undefined ? [] : [more])] },
  })),
  ...refactorings.map(([name, edits]) => ({ name, isRegression: false, edits })),
].filter(({ name }) => values.only === undefined || values.only === name);
if (all.length === 0) fail(`there is no change ${values.only}`);

say(`Comparing ${all.length} changes with ${tapes.length} recordings`);
const wrong = [];
for (const { name, isRegression, edits } of all) {
  const component = build("examples/shop", join(folder, "changed"), (copy) => {
    for (const [file, texts] of Object.entries(edits)) {
      for (const [from, to] of texts) replace(join(copy, file), from, to);
    }
  });
  const replayer = new Replayer();
  let found;
  try {
    for (const [at, tape] of tapes.entries()) {
      const replayed = await replayer.against(tape, component);
      if (replayed.verdict === "same") continue;
      found = { at, lines: report("", replayed) };
      break;
    }
  } finally {
    replayer.close();
  }
  const told =
    found === undefined
      ? "same"
      : `${found.lines[0].slice(2)}: ${found.lines
          .slice(1)
          .map((line) => line.trim())
          .join("; ")}`;
  const isRight = (found !== undefined) === isRegression;
  if (!isRight) wrong.push(name);
  console.log(
    `${isRegression ? "regression" : "refactoring"} ${name}: ${values.verbose ? told : told.slice(0, 160)}${isRight ? "" : ", which is WRONG"}`,
  );
}
const count = (is) => all.filter(({ isRegression }) => isRegression === is).length;
if (wrong.length > 0) fail(`not as it must be (--seed ${seed}): ${wrong.join(", ")}`);
console.log(`${count(true)} regressions are found, ${count(false)} refactorings are the same`);
