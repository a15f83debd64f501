import { get, ok, routes } from "@tenon/sdk";
import { bodies, schemas } from "./bodies.ts";

type Task = () => unknown;
type Named = Readonly<Record<string, Task>>;

declare const performance: { now(): number };

/** Microseconds that one run of each task takes: the median of rounds, in which the tasks take turns. */
function measure(tasks: Named, rounds: number, runs: number): Record<string, number> {
  const times: Record<string, number[]> = {};
  for (let round = -2; round < rounds; round++) {
    for (const [name, task] of Object.entries(tasks)) {
      const start = performance.now();
      for (let run = 0; run < runs; run++) task();
      if (round >= 0) (times[name] ??= []).push(((performance.now() - start) * 1000) / runs);
    }
  }
  const median = (all: number[]) => all.sort((a, b) => a - b)[all.length >> 1] ?? 0;
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
}

/** An app of so many routes, all as deep as the others. */
function appOf(size: number) {
  return routes(
    Object.fromEntries(
      Array.from({ length: size }, (_, i) => [`r${i}`, get(`/api/v1/things${i}/{id}/parts`, () => ok({}))]),
    ),
  );
}

/** The cost of each library on the same body, in this engine. */
export function validation(body: "valid" | "invalid", rounds: number, runs: number): Record<string, number> {
  const value = bodies[body];
  const task = (name: keyof typeof schemas): Task => {
    const { validate } = schemas[name]["~standard"];
    if (("issues" in (validate(value) as object)) !== (body === "invalid")) throw new Error(`${name} judges ${body} wrongly`);
    return () => validate(value);
  };
  return measure({ tenon: task("tenon"), zod: task("zod"), valibot: task("valibot") }, rounds, runs);
}

/** The cost of a whole request, among 10 and among 500 routes. */
export function routing(rounds: number, runs: number): Record<string, number> {
  const ask = (size: number): Task => {
    const app = appOf(size);
    const request = { method: "GET", pathWithQuery: `/api/v1/things${size >> 1}/7/parts`, headers: [] };
    return () => app.handle(request);
  };
  return measure({ of10: ask(10), of500: ask(500) }, rounds, runs);
}
