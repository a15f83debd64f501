import { type } from "arktype";

const User = type({ name: "string >= 2", mail: "string.email", "age?": "number.integer >= 0" });

export default () => [
  User({ name: "Ada", mail: "ada@example.org", age: 36 }),
  User({ name: "A", mail: "x", age: 1.5 }).summary,
];
