import { decodeTime, monotonicFactory, ulid } from "ulid";

export default () => {
  const next = monotonicFactory();
  return [
    decodeTime(ulid(1_469_918_176_385)),
    ulid().length,
    [next(1000), next(1000)].reduce((first, second) => first < second),
  ];
};
