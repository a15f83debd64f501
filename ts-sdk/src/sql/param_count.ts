import type { FilterGuard } from "./filter.ts";

/** The parameters that an operand becomes: one for each value, none for NULL, which is written out. */
export function countParams(operand: unknown): number {
  if (!Array.isArray(operand)) return operand === null ? 0 : 1;
  let count = 0;
  for (let i = 0; i < operand.length; i++) if (operand[i] !== null) count++;
  return count;
}

/** A guard that refuses nothing, and counts the parameters of what is read. */
export class ParamCounter implements FilterGuard {
  count = 0;

  logical(): void {}

  condition(_field: string, _operator: string, operand: unknown): void {
    this.count += countParams(operand);
  }
}
