import type { FilterGuard } from "./filter.ts";

/** The number of parameters of an operand: one for each value, none for NULL, which is written into the text. */
export function countParams(operand: unknown): number {
  if (!Array.isArray(operand)) return operand === null ? 0 : 1;
  let count = 0;
  for (let i = 0; i < operand.length; i++) if (operand[i] !== null) count++;
  return count;
}

/** A guard that refuses nothing, and counts the parameters of a filter. */
export class ParamCounter implements FilterGuard {
  count = 0;

  logical(): void {}

  condition(_field: string, _operator: string, operand: unknown): void {
    this.count += countParams(operand);
  }
}
