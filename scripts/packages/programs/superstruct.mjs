import { array, coerce, create, number, object, size, string, validate } from "superstruct";

const User = object({ name: size(string(), 2, 20), marks: array(number()), age: coerce(number(), string(), Number) });

export default () => [
  create({ name: "Ada", marks: [1], age: "36" }, User),
  validate({ name: "A", marks: ["x"] }, User)[0]
    .failures()
    .map(({ path, message }) => [path, message]),
];
