/** A token bucket with this many requests per second and at once. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #now: () => number;
  #tokens: number;
  #at: number;

  /** @param now milliseconds of a monotonic clock */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#tokens = Math.max(1, perSecond);
    this.#at = now();
  }

  /** Takes a token. @returns 0, or the seconds until there is one */
  take(): number {
    const now = this.#now();
    const most = Math.max(1, this.#perSecond);
    this.#tokens = Math.min(most, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    if (this.#tokens < 1) return (1 - this.#tokens) / this.#perSecond;
    this.#tokens--;
    return 0;
  }
}
