import { DateTime, Duration } from "luxon";

export default () => [
  DateTime.fromISO("2024-02-29T12:00:00Z", { zone: "utc" }).plus({ years: 1 }).toISO(),
  DateTime.fromISO("2024-02-29T12:00:00", { zone: "America/New_York" }).toUTC().toISO(),
  Duration.fromObject({ hours: 30 }).shiftTo("days", "hours").toObject(),
];
