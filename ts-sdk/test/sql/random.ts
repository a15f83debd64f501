/** Random choices that are reproducible with a seed. */

const { TENON_SQL_SEED, TENON_SQL_CASES } = process.env;

/** The seed of this run: `TENON_SQL_SEED`, or a new one; each suite prints it. */
export const seed = Number(TENON_SQL_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** The number of cases for a dialect: `TENON_SQL_CASES`, or the suite's own. */
export function caseCount(fallback: number): number {
  return Number(TENON_SQL_CASES ?? fallback);
}

/** A generator of numbers (mulberry32), and choices made with it. */
export class Random {
  #state: number;

  constructor(from: number) {
    this.#state = from | 0;
  }

  /** A number from 0, inclusive, to 1, exclusive. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `least` to `most`. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1));
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.integer(0, items.length - 1)] as T;
  }

  list<T>(length: number, make: () => T): T[] {
    return Array.from({ length }, make);
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, at: this.fraction() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  }
}
