/** A loop that leases work of a sidecar, does it, and reports its end. */

/** The work that a consumer does. */
export interface Work<T> {
  /** Items that are done at the same time. */
  readonly concurrency: number;
  /** Leases up to `max` items that are ready. */
  lease(max: number): Promise<readonly T[]>;
  /** Does an item, and reports its end. When this fails, the item's lease ends by itself. */
  settle(item: T): Promise<void>;
  /** Reports whether work can be done; nothing is leased before. */
  isReady(): boolean;
  /** Reports that leases fail; called once until they work again. */
  leaseFailed(error: Error): void;
  /** Reports that the end of an item could not be reported. */
  settleFailed(error: Error): void;
}

/** Items of one lease at most, as the sidecars have it. */
const MAX_LEASE = 100;

/** The pause when there is no work. */
const POLL_MS = 500;

/** The pause when the sidecar does not answer. */
const PAUSE_MS = 3000;

/** Does the work of a sidecar until it is closed. */
export class Consumer<T> {
  readonly #work: Work<T>;
  readonly #handled = new Set<Promise<void>>();
  readonly #running: Promise<void>;
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(work: Work<T>) {
    this.#work = work;
    this.#running = this.#run();
  }

  /** Leases nothing more, and resolves when all that was leased is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#running;
    await Promise.all(this.#handled);
  }

  async #run(): Promise<void> {
    const { concurrency } = this.#work;
    let isFailing = false;
    while (!this.#isClosed) {
      if (!this.#work.isReady()) {
        await this.#sleep(POLL_MS);
        continue;
      }
      try {
        const items = await this.#work.lease(Math.min(concurrency - this.#handled.size, MAX_LEASE));
        for (const item of items) this.#handle(item);
        isFailing = false;
        if (items.length === 0) await this.#sleep(POLL_MS);
      } catch (error) {
        if (!isFailing) this.#work.leaseFailed(error as Error);
        isFailing = true;
        await this.#sleep(PAUSE_MS);
      }
      while (!this.#isClosed && this.#handled.size >= concurrency) await Promise.race(this.#handled);
    }
  }

  #handle(item: T): void {
    const handled = this.#work.settle(item).catch((error: Error) => this.#work.settleFailed(error));
    this.#handled.add(handled);
    void handled.then(() => this.#handled.delete(handled));
  }

  #sleep(ms: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
