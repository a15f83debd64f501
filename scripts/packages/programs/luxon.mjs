import { DateTime, Duration } from "luxon";

export const locales = ["en", "de"];

export default () => [
  DateTime.fromISO("2024-02-29T12:00:00Z", { zone: "utc" }).plus({ years: 1 }).toISO(),
  DateTime.fromISO("2024-02-29T12:00:00", { zone: "America/New_York" }).toUTC().toISO(),
  DateTime.fromISO("2024-07-01T12:00:00", { zone: "Europe/Berlin" })
    .setLocale("de")
    .toLocaleString(DateTime.DATETIME_FULL),
  DateTime.utc(2024, 2, 29).toFormat("EEEE, d LLL yyyy", { locale: "de" }),
  Duration.fromObject({ hours: 30 }).shiftTo("days", "hours").toObject(),
];
