import { z } from "zod";

const User = z.object({ name: z.string().min(2), mail: z.email(), age: z.coerce.number().int().optional() });

export default () => [
  User.parse({ name: "Ada", mail: "ada@example.org", age: "36" }),
  z.treeifyError(User.safeParse({ name: "A", mail: "x" }).error),
];
