import { type Query, queries } from "./queries.ts";

/** One query's result: microseconds a statement. */
export interface Measured {
  readonly name: string;
  readonly tenon: number;
  readonly kysely: number;
}

/**
 * Measures every query in turns: a slice of one, a slice of the other, so that whatever else the machine does meets both.
 * The fastest slice of each counts: what else a shared machine does only adds time.
 *
 * @param now milliseconds; a parameter, since an engine inside a component has its own clock
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

/** The table of a run. */
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

/** Two notations of one query must ask for the same parameters, or the comparison means nothing. */
function check(query: Query): void {
  const [, params] = query.tenon(7);
  const { parameters } = query.kysely(7);
  const distinct = (values: readonly unknown[]) => JSON.stringify([...new Set(values.map(String))].sort());
  // Kysely binds LIMIT and OFFSET, and each use of a keyset's value anew.
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

/** Keeps the measured work from being optimised away. */
export const total = () => sink;
