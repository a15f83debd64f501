import { Hono } from "hono";
import { cors } from "hono/cors";
import { etag } from "hono/etag";
import { HTTPException } from "hono/http-exception";

interface User {
  readonly id: number;
  readonly name: string;
}

// Every request gets an instance of its own, so a change of this data is not visible to the next request. Lasting data
// belongs in a database, which a handler reaches through a sidecar.
const users: readonly User[] = Array.from({ length: 50 }, (_, index) => ({ id: index + 1, name: `User ${index + 1}` }));

const app = new Hono<{ Bindings: { GREETING: string } }>();

app.use(cors({ origin: "https://app.example" }));
app.use("/users/*", etag());

app.get("/", (c) => c.text(`${c.env.GREETING} from Hono`));

app.get("/users", (c) => c.json({ users: users.slice(0, 10) }));

app.get("/users/:id", (c) => {
  const user = users.find(({ id }) => id === Number(c.req.param("id")));
  if (user === undefined) throw new HTTPException(404, { message: "there is no such user" });
  return c.json(user);
});

app.post("/users", async (c) => {
  const { name } = await c.req.json<{ name: string }>();
  return c.json({ id: users.length + 1, name }, 201);
});

export default app;
