/** Work for a value, in slices: one in each turn of the event loop. A MiB of small members takes tens of milliseconds, and a script may cause it with each call. */

/** Time in milliseconds for which Node's event loop waits for one slice. */
const TIME = 2;

/** Steps of one slice, however fast they are. */
const STEPS = 20_000;

/** Steps between two looks at the clock. */
const AT_ONCE = 500;

/** Work that takes many steps. */
export interface Steps {
  /** Takes at most so many steps, and reports whether nothing is left. */
  advance(steps: number): boolean;
}

/** Resolves in the turn of the event loop that belongs to the last slice which was asked for. */
let turns: Promise<void> = Promise.resolve();

/**
 * Does the work in slices. The slices of all that runs at once take turns.
 *
 * @param isOver asked before each slice. If it returns true, the rest of the work is not done
 */
export async function inSlices(work: Steps, isOver = () => false): Promise<void> {
  while (!isOver()) {
    turns = turns.then(() => new Promise((resolve) => setImmediate(resolve)));
    await turns;
    const ends = performance.now() + TIME;
    for (let left = STEPS; left > 0 && performance.now() < ends; left -= AT_ONCE) if (work.advance(AT_ONCE)) return;
  }
}
