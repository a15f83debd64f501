import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const User = Type.Object({ name: Type.String({ minLength: 2 }), age: Type.Optional(Type.Integer({ minimum: 0 })) });

export default () => [
  Value.Check(User, { name: "Ada", age: 36 }),
  [...Value.Errors(User, { name: "A", age: -1 })].map(({ path, message }) => [path, message]),
  Value.Convert(User, { name: "Ada", age: "36" }),
];
