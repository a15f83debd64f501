import { native } from "../../native.ts";

/**
 * Returns the reason why a text is not a schedule, by the rules of `crates/services/cron/src/schedule.rs`; undefined
 * for a valid one.
 */
export function scheduleProblem(schedule: string): string | undefined {
  return problemOf(schedule, "UTC");
}

/** Returns the reason why a text is not a time zone, by the same rules; undefined for a valid one. */
export function timezoneProblem(timezone: string): string | undefined {
  return problemOf("@daily", timezone);
}

/** The addon's sentence without the key, which the error names itself. */
function problemOf(schedule: string, timezone: string): string | undefined {
  return native()
    .scheduleProblem(schedule, timezone)
    ?.replace(/^`[a-z]+` /, "");
}

/** Returns the reason why a text is not a route's path; undefined for a valid one. */
export function pathProblem(path: string): string | undefined {
  return /^\/(?!\/)/.test(path) ? undefined : "must begin with one /";
}

/** {@link pathProblem} in JSON Schema. */
export const pathRule = { pattern: "^/(?!/)" };
