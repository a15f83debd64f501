/** The hour of the day, in UTC, that is half a day away: a job that is due then does not run during a test. */
export const hour = (new Date().getUTCHours() + 12) % 24;

/** Returns an hour in two digits, as ISO 8601 has it. */
export const twoDigits = (of: number): string => String(of).padStart(2, "0");
