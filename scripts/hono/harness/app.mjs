// Answers with the results of the tests that were declared before: all of them, the one at `?only=<index>`, or with `?list`
// the names alone.
import { collect, listed, runTests } from "./registry.mjs";

// Without a top-level `await`, which a handler with `AsyncLocalStorage` cannot have.
const collected = collect();

export default {
  async fetch(request) {
    await collected;
    const { searchParams } = new URL(request.url);
    if (searchParams.has("list")) return Response.json(listed());
    const only = searchParams.get("only");
    return Response.json(await runTests(only === null ? undefined : Number(only)));
  },
};
