// Answers with the results of the tests that were declared before: all of them, the one at `?only=<index>`, or with `?list`
// the names alone.
import { collect, listed, runTests } from "./registry.mjs";

// Not at the top level: suites make keys, and random values exist only while a request is answered.
let collected;

export default {
  async fetch(request) {
    collected ??= collect();
    await collected;
    const { searchParams } = new URL(request.url);
    if (searchParams.has("list")) return Response.json(listed());
    const only = searchParams.get("only");
    return Response.json(await runTests(only === null ? undefined : Number(only)));
  },
};
