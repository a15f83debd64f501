import { CronExpressionParser } from "cron-parser";

export const locales = ["en"];

export default () => {
  const every = CronExpressionParser.parse("*/20 9-17 * * 1-5", { currentDate: "2024-03-01T16:30:00Z", tz: "UTC" });
  return [
    every.next().toISOString(),
    every.next().toISOString(),
    every.next().toISOString(),
    every.next().toISOString(),
  ];
};
