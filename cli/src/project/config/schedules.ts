import { native } from "../../native.ts";

/** Returns why a text is no schedule, by the rules of `crates/services/src/cron/schedule.rs`; undefined when it is one. */
export function scheduleProblem(schedule: string): string | undefined {
  return problemOf(schedule, "UTC");
}

/** Returns why a text is no time zone, by the same rules; undefined when it is one. */
export function timezoneProblem(timezone: string): string | undefined {
  return problemOf("@daily", timezone);
}

/** The addon's sentence without the key, which the error names itself. */
function problemOf(schedule: string, timezone: string): string | undefined {
  return native()
    .scheduleProblem(schedule, timezone)
    ?.replace(/^`[a-z]+` /, "");
}

/** Returns why a text is no path of a route; undefined when it is one. */
export function pathProblem(path: string): string | undefined {
  return /^\/(?!\/)/.test(path) ? undefined : "must begin with one /";
}

/** {@link pathProblem} in JSON Schema. */
export const pathRule = { pattern: "^/(?!/)" };
