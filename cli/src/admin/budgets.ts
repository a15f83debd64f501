/** The states of budgets as the admin socket sends them. */
import type { BudgetRemainder, BudgetState } from "../embed/runtime-state.ts";
import type { BudgetPart } from "../project/config/budgets.ts";
import { snakeCase } from "../project/config/key.ts";

/** The state of a part of a budget, in the spelling of everything that is sent. */
export interface SentRemainder extends Omit<BudgetRemainder, "part" | "periodMs" | "resetsInMs"> {
  readonly part: BudgetPart;
  readonly period_ms: number;
  readonly resets_in_ms: number;
}

/** The state of a module's budget, in that spelling. */
export interface SentBudget {
  readonly module: string;
  readonly when_spent: BudgetState["whenSpent"];
  readonly parts: readonly SentRemainder[];
}

/** Respells the state of a budget. */
export function sentBudget({ module, whenSpent, parts }: BudgetState): SentBudget {
  return {
    module,
    when_spent: whenSpent,
    parts: parts.map(({ part, periodMs, resetsInMs, ...amounts }) => ({
      part: snakeCase(part) as BudgetPart,
      ...amounts,
      period_ms: periodMs,
      resets_in_ms: resetsInMs,
    })),
  };
}
