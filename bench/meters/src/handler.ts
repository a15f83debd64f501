/** The requests of `bench/meters`. */
import { db, ensure, field, get, ok, Path, routes, stream } from "@tenon/sdk";

const Id = Path("Id", { id: field.u32() });

export default routes({
  plain: get("/plain", () => ok({ message: "hello", n: 1 })),
  row: get("/row/{id}", { path: Id }, async ({ path }) => {
    const [row] = await db.query<{ id: number; name: string }>(["SELECT id, name FROM users WHERE id = $1", [path.id]]);
    return ok(ensure(row, 404, "no such user"));
  }),
  stream: get("/stream", () =>
    stream(async function* () {
      for (let piece = 0; piece < 5; piece++) yield `piece ${piece}\n`;
    }),
  ),
});
