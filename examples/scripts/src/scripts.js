// The scripts of merchants: saved, run for each order, and held to a budget of processor time.

/** Processor time that the scripts of one merchant may use in a minute, in ms. */
export const BUDGET_MS = 1_000;
const MINUTE = 60_000;
const KEPT = 100;

export class Scripts {
  #sandbox;
  #now;
  /** By merchant: scripts by name, and the use in this minute. */
  #merchants = new Map();

  constructor(sandbox, now = Date.now) {
    this.#sandbox = sandbox;
    this.#now = now;
  }

  list(merchant) {
    const { scripts } = this.#of(merchant);
    return [...scripts].map(([name, { source, log }]) => ({ name, source, log }));
  }

  save(merchant, name, source) {
    if (name.trim() === "") throw new RangeError("a script needs a name");
    const { scripts } = this.#of(merchant);
    scripts.set(name, { source, log: scripts.get(name)?.log ?? [] });
  }

  remove(merchant, name) {
    this.#of(merchant).scripts.delete(name);
  }

  /** The processor time that is left in this minute, in ms. */
  left(merchant) {
    return Math.max(0, BUDGET_MS - this.#of(merchant).usedUs / 1_000);
  }

  /** Runs every script of the merchant with an order. */
  async react(merchant, order) {
    const { scripts } = this.#of(merchant);
    await Promise.all([...scripts.keys()].map((name) => this.run(merchant, name, order)));
  }

  /** Runs one script, and returns the entry of its log. */
  async run(merchant, name, order) {
    const own = this.#of(merchant);
    const script = own.scripts.get(name);
    if (script === undefined) return undefined;
    const entry = await this.#evaluate(merchant, own, script.source, order);
    script.log.unshift({ at: new Date(this.#now()).toISOString(), order: order.id, ...entry });
    script.log.length = Math.min(script.log.length, KEPT);
    return script.log[0];
  }

  async #evaluate(merchant, own, source, order) {
    if (this.left(merchant) <= 0)
      return { error: `the budget of ${BUDGET_MS} ms a minute is spent`, lines: [], cpuUs: 0 };
    const done = await this.#sandbox.evaluate(source, { input: order, context: merchant });
    own.usedUs += done.usage.cpuUs;
    const lines = done.logs.map(({ message }) => message);
    if (done.ok) return { value: done.value, lines, cpuUs: done.usage.cpuUs };
    const { message, line, limit } = done.error;
    const error = `${limit === undefined ? "" : `${limit}: `}${message}${line === undefined ? "" : ` (line ${line})`}`;
    return { error, lines, cpuUs: done.usage.cpuUs };
  }

  #of(merchant) {
    const own = this.#merchants.get(merchant) ?? { scripts: new Map(), usedUs: 0, since: this.#now() };
    this.#merchants.set(merchant, own);
    if (this.#now() - own.since >= MINUTE) Object.assign(own, { usedUs: 0, since: this.#now() });
    return own;
  }
}
