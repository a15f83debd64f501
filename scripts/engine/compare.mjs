// Runs tests on several legs, and compares their reports.
import { createHash } from "node:crypto";

/** Number of repetitions of a test, alone on each leg, after its reports differed. */
const AGAIN = 3;

/**
 * The result of a comparison.
 *
 * @typedef {object} Compared
 * @property {number} ran tests that ran on every leg
 * @property {Map<string, number>} verdicts number of tests by verdict on the first leg
 * @property {{ id: string, reports: Record<string, string[]> }[]} different reports that differ between legs, and not
 * between
 *   runs on one leg
 * @property {{ id: string, reports: Record<string, string[]> }[]} unsteady reports that differ between runs on one leg
 * @property {string} digest SHA-256 over all tests' names and the verdicts of the first leg
 * @property {Record<string, number>} folders tests by their first folder
 */

/**
 * @param {{ id: string, task(): object, verdict(report: string): string }[]} tests
 * @param {{ name: string, ask(task: object): Promise<string> }[]} legs
 * @param {{ jobs: number, onProgress?: (done: number) => void, onResult?: (id: string, verdicts: string[], reports: string[]) => void }} options
 * @returns {Promise<Compared>}
 */
export async function compare(tests, legs, { jobs, onProgress, onResult }) {
  const first = new Array(tests.length);
  const suspects = [];
  let next = 0;
  let done = 0;
  const work = async () => {
    while (next < tests.length) {
      const index = next++;
      const test = tests[index];
      const task = test.task();
      const reports = await Promise.all(legs.map((leg) => leg.ask(task)));
      first[index] = test.verdict(reports[0]);
      onResult?.(test.id, reports.map(test.verdict), reports);
      if (reports.some((report) => report !== reports[0])) suspects.push({ test, reports });
      onProgress?.(++done);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));

  const different = [];
  const unsteady = [];
  suspects.sort((a, b) => (a.test.id < b.test.id ? -1 : 1));
  for (const { test, reports } of suspects) {
    const all = Object.fromEntries(legs.map(({ name }, index) => [name, [reports[index]]]));
    for (let again = 0; again < AGAIN; again++) {
      for (const leg of legs) all[leg.name].push(await leg.ask(test.task()));
    }
    const found = { id: test.id, reports: all, verdicts: verdictsOf(all, test) };
    // Reports that depend on time or chance also differ on one leg. The verdicts must then be the same ones.
    const isUnsteady = Object.values(all).some((each) => new Set(each).size > 1);
    (isUnsteady && haveInCommon(Object.values(found.verdicts)) ? unsteady : different).push(found);
  }

  const verdicts = new Map();
  for (const verdict of first) verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
  const hash = createHash("sha256");
  tests.forEach(({ id }, index) => {
    hash.update(`${id}\t${first[index]}\n`);
  });
  const folders = {};
  for (const { id } of tests) folders[id.split("/")[0]] = (folders[id.split("/")[0]] ?? 0) + 1;
  return { ran: tests.length, verdicts, different, unsteady, digest: hash.digest("hex"), folders };
}

const verdictsOf = (reports, test) =>
  Object.fromEntries(Object.entries(reports).map(([name, all]) => [name, [...new Set(all.map(test.verdict))].sort()]));

/** Returns whether every leg has one common verdict. */
function haveInCommon([first, ...others]) {
  return first.some((verdict) => others.every((other) => other.includes(verdict)));
}
