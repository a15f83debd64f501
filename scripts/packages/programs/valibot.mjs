import * as v from "valibot";

const User = v.object({ name: v.pipe(v.string(), v.minLength(2)), mail: v.pipe(v.string(), v.email()) });

export default () => [
  v.parse(User, { name: "Ada", mail: "ada@example.org" }),
  v.flatten(v.safeParse(User, { name: "A", mail: "x" }).issues),
];
