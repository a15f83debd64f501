import { expect, test } from "vitest";
import { allowanceProblem, allowanceRule, type BudgetPart, nativeBudget, readAllowance } from "./budgets.ts";

const valid: readonly (readonly [BudgetPart, string, number, number])[] = [
  ["cpu", "10 s / minute", 10e6, 60e3],
  ["cpu", "1.5min/hour", 90e6, 3600e3],
  ["calls", "1000 / second", 1000, 1000],
  ["bytes_out", "0.5 KiB / day", 512, 86_400e3],
  ["memory", "100 GiB s / hour", 100 * 2 ** 30, 3600e3],
];

const wrong: readonly (readonly [BudgetPart, string, string])[] = [
  ["cpu", "", 'must be an amount for a period, such as "10 s / minute"'],
  ["cpu", "10 s", 'must be an amount for a period, such as "10 s / minute"'],
  ["cpu", "10 sec / minute", "must have one of the units ms, s, min, h"],
  ["cpu", "10 s / week", 'must be for a second, minute, hour or day, not for a "week"'],
  ["cpu", "0 s / minute", "must be more than nothing"],
  ["cpu", "10 / minute", "must have one of the units"],
  ["calls", "10 s / minute", 'must have no unit, such as "1000 / minute"'],
  ["calls", "1.5 / minute", "must be a whole number of calls"],
  ["bytes_out", "1 GB / hour", "did you mean `GiB`?"],
  ["memory", "1 GiB / hour", "did you mean `GiB s`?"],
  ["memory", "999999999999999 TiB s / hour", "must be a smaller amount"],
  ["cpu", "-1 s / minute", "must be an amount for a period"],
  ["cpu", "1 constructor / minute", "must have one of the units"],
];

test.each(valid)("%s of `%s` is read", (part, text, amount, periodMs) => {
  expect(readAllowance(part, text)).toEqual({ amount, periodMs });
  expect(text).toMatch(new RegExp(allowanceRule(part).pattern));
});

test.each(wrong)("%s of `%s` is refused", (part, text, why) => {
  expect(allowanceProblem(part)(text)).toContain(why);
});

test("a budget has the parts that are given", () => {
  expect(nativeBudget({ calls: "5 / second", bytesOut: "1 B / day", whenSpent: "503", weight: 2 })).toEqual({
    calls: { amount: 5, periodMs: 1000 },
    bytesOut: { amount: 1, periodMs: 86_400e3 },
    whenSpent: "503",
    weight: 2,
  });
});
