// `npm test`: sets up a fresh clone and runs every test, Rust and TypeScript, unit to end-to-end.
import { run, say, setUp } from "./setup.mjs";

setUp();
say("Rust tests");
run("cargo", ["test", "--workspace", "--quiet"]);
say("TypeScript tests");
run("npx", ["vitest", "run", ...process.argv.slice(2)]);
