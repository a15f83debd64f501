/**
 * Runs a task once at a time. A request during a run causes one more run afterwards, because each request is for the
 * newest state.
 */
export class Latest {
  readonly #task: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(task: () => Promise<void>) {
    this.#task = task;
  }

  /** Resolves when a run that began after the call is over; rejects when it failed. */
  request(): Promise<void> {
    if (this.#running === undefined) return this.#start();
    if (this.#next === undefined) {
      const start = () => {
        this.#next = undefined;
        return this.#start();
      };
      this.#next = this.#running.then(start, start);
    }
    return this.#next;
  }

  #start(): Promise<void> {
    const run = this.#task().finally(() => {
      this.#running = undefined;
    });
    this.#running = run;
    return run;
  }
}
