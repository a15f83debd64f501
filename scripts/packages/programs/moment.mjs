import moment from "moment";

export default () => {
  const at = moment.utc("2024-02-29T12:00:00Z");
  return [
    at.clone().add(1, "month").format("LLLL"),
    at.from(moment.utc("2024-03-05T12:00:00Z")),
    moment.duration(90, "minutes").humanize(),
  ];
};
