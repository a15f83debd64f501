import { get, noContent, ok, post, routes } from "@tenon/sdk";
import { bodies, Page, page, schemas } from "./bodies.ts";

type Task = () => unknown;
type Named = Readonly<Record<string, Task>>;

declare const performance: { now(): number };
declare const TextEncoder: new () => { encode(text: string): Uint8Array };

/** Returns the microseconds of one run of each task: the median of rounds, in which the tasks alternate. */
async function measure(tasks: Named, rounds: number, runs: number): Promise<Record<string, number>> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(tasks).map((name) => [name, []]));
  for (let round = -2; round < rounds; round++) {
    for (const [name, task] of Object.entries(tasks)) {
      const start = performance.now();
      for (let run = 0; run < runs; run++) {
        const result = task();
        // Awaiting other values would measure the event loop, because a turn may take longer than the validation.
        if (result instanceof Promise) await result;
      }
      if (round >= 0) times[name]?.push(((performance.now() - start) * 1000) / runs);
    }
  }
  const median = (all: number[]) => all.sort((a, b) => a - b)[all.length >> 1] ?? 0;
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
}

/** Makes an app with this many routes, all equally deep. */
function appOf(size: number) {
  return routes(
    Object.fromEntries(
      Array.from({ length: size }, (_, i) => [`r${i}`, get(`/api/v1/things${i}/{id}/parts`, () => ok({}))]),
    ),
  );
}

/**
 * Measures each library's validation in this engine. It is the time of a route that declares the body, minus that of a
 * route that only parses its JSON. It also measures the Standard Schema function alone, which must copy the values that
 * a route may keep.
 */
export async function validation(
  body: "valid" | "invalid",
  rounds: number,
  runs: number,
): Promise<Record<string, number>> {
  const answer = () => noContent();
  const app = routes({
    json: post("/json", (_, req) => (req.json() ? noContent() : noContent()) as never),
    tenon: post("/tenon", { body: schemas.tenon, status: 204 }, answer),
    zod: post("/zod", { body: schemas.zod, status: 204 }, answer),
    valibot: post("/valibot", { body: schemas.valibot, status: 204 }, answer),
  });
  const sent = new TextEncoder().encode(JSON.stringify(bodies[body]));
  const tasks: Record<string, Task> = {};
  for (const name of ["json", "tenon", "zod", "valibot"] as const) {
    const request = { method: "POST", pathWithQuery: `/${name}`, headers: [], body: sent };
    const { status } = await app.handle(request);
    if (status !== (name === "json" || body === "valid" ? 204 : 400)) throw new Error(`${name} answers ${status}`);
    tasks[name] = () => app.handle(request);
  }
  const value = bodies[body];
  for (const name of ["tenon", "zod", "valibot"] as const) {
    const { validate } = schemas[name]["~standard"];
    tasks[`${name} alone`] = () => validate(value);
  }
  const { json = 0, ...times } = await measure(tasks, rounds, runs);
  return Object.fromEntries(
    Object.entries(times).map(([name, time]) => [name, name.endsWith("alone") ? time : time - json]),
  );
}

/** Measures a whole request, with 10 and with 500 routes. */
export function routing(rounds: number, runs: number): Promise<Record<string, number>> {
  const ask = (size: number): Task => {
    const app = appOf(size);
    const request = { method: "GET", pathWithQuery: `/api/v1/things${size >> 1}/7/parts`, headers: [] };
    return () => app.handle(request);
  };
  return measure({ of10: ask(10), of500: ask(500) }, rounds, runs);
}

/** Measures an answer of 20 items: as it is, and with the declared members alone. */
export function answers(rounds: number, runs: number): Promise<Record<string, number>> {
  const app = routes({
    plain: get("/plain", () => ok(page)),
    declared: get("/declared", { response: Page }, () => ok(page)),
  });
  const ask = (pathWithQuery: string) => () => app.handle({ method: "GET", pathWithQuery, headers: [] });
  return measure({ plain: ask("/plain"), declared: ask("/declared") }, rounds, runs);
}
