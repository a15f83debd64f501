import { type Query, queries } from "./queries.ts";

/** The result for one query, in microseconds per statement. */
export interface Measured {
  readonly name: string;
  readonly tenon: number;
  readonly kysely: number;
}

/**
 * Measures each query in alternating slices of both libraries, so that other load affects both. The fastest slice of
 * each counts, because other load only adds time.
 *
 * @param now milliseconds; a parameter, because an engine inside a component has its own clock
 */
export function measure(now: () => number, rounds: number, slice: number): Measured[] {
  return queries().map((query) => {
    check(query);
    const times = { tenon: [] as number[], kysely: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      times.tenon.push(time(now, slice, (i) => query.tenon(i)[0].length));
      times.kysely.push(time(now, slice, (i) => query.kysely(i).sql.length));
    }
    return { name: query.name, tenon: Math.min(...times.tenon), kysely: Math.min(...times.kysely) };
  });
}

/** Formats the table of a run. */
export function report(where: string, results: readonly Measured[]): string {
  const lines = results.map(
    ({ name, tenon, kysely }) =>
      `${(kysely / tenon).toFixed(1).padStart(6)} x  ${tenon.toFixed(2).padStart(8)} ${kysely.toFixed(2).padStart(8)}  ${name}`,
  );
  const ratios = results.map(({ tenon, kysely }) => kysely / tenon);
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  return [
    `${where}: Kysely's time by Tenon's, and microseconds a statement (Tenon, Kysely)`,
    ...lines,
    `geometric mean ${mean.toFixed(1)} x, lowest ${Math.min(...ratios).toFixed(1)} x`,
  ].join("\n");
}

/** Checks that both notations of a query bind the same parameters. */
function check(query: Query): void {
  const [, params] = query.tenon(7);
  const { parameters } = query.kysely(7);
  const distinct = (values: readonly unknown[]) => JSON.stringify([...new Set(values.map(String))].sort());
  // Kysely binds LIMIT and OFFSET, and repeats a keyset's value for each use.
  const bound = parameters.filter((value) => value !== 20 && value !== 40);
  if (distinct(params) !== distinct(bound))
    throw new Error(`${query.name}: ${distinct(params)} against ${distinct(bound)}`);
}

let sink = 0;

function time(now: () => number, slice: number, run: (i: number) => number): number {
  const start = now();
  for (let i = 0; i < slice; i++) sink += run(i);
  return ((now() - start) * 1_000) / slice;
}

/** Uses the results, so that the measured work is not optimized away. */
export const total = () => sink;
