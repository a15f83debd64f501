/**
 * Checks the numbers among options. JSON has no NaN and no infinity: they would become `null`, which a sidecar reads as
 * an option that was left out.
 *
 * @throws TypeError naming the option
 */
export function checkNumbers(client: string, options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new TypeError(`${client}: "${name}" must be a finite number`);
    }
  }
}
