// `npm test`: sets up a fresh clone and runs every test, Rust and TypeScript, unit to end-to-end. A failure does not keep the
// others from running.
import { exitCode, say, setUp } from "./setup.mjs";

const suites = [
  ["Rust tests", "cargo", ["test", "--workspace", "--quiet", "--no-fail-fast"]],
  ["TypeScript tests", "npx", ["vitest", "run", ...process.argv.slice(2)]],
];

await setUp();
const codes = suites.map(([name, command, args]) => {
  say(name);
  return exitCode(command, args);
});
console.error("");
suites.forEach(([name], index) => {
  console.error(`${name}: ${codes[index] === 0 ? "passed" : `failed (${codes[index]}); the failures are above`}`);
});
process.exitCode = codes.find((code) => code !== 0) ?? 0;
