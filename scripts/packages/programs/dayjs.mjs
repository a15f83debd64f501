import dayjs from "dayjs";
import relativeTime from "dayjs/plugin/relativeTime.js";
import utc from "dayjs/plugin/utc.js";

dayjs.extend(utc);
dayjs.extend(relativeTime);

export default () => {
  const at = dayjs.utc("2024-02-29T12:00:00Z");
  return [
    at.add(1, "year").format("dddd, D MMMM YYYY HH:mm"),
    at.from(at.add(3, "day")),
    at.endOf("month").toISOString(),
  ];
};
