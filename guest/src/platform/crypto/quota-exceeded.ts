/** `QuotaExceededError` (Web IDL, section 4.4). */

/** Reads a limit, which is a number that is not negative. */
function limit(name: string, given: unknown): number | null {
  if (given === undefined) return null;
  const number = Number(given);
  if (!Number.isFinite(number)) throw new TypeError(`"${name}" must be a finite number`);
  if (number < 0) throw new RangeError(`"${name}" must not be negative`);
  return number;
}

export class QuotaExceededError extends DOMException {
  readonly #quota: number | null;
  readonly #requested: number | null;

  constructor(message = "", options: { readonly quota?: number; readonly requested?: number } = {}) {
    super(message, "QuotaExceededError");
    const [quota, requested] = [limit("quota", options.quota), limit("requested", options.requested)];
    if (quota !== null && requested !== null && requested < quota)
      throw new RangeError('"requested" must not be less than "quota"');
    this.#quota = quota;
    this.#requested = requested;
  }

  get quota(): number | null {
    return this.#quota;
  }

  get requested(): number | null {
    return this.#requested;
  }
}
