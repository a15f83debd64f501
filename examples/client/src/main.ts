/**
 * Calls `examples/hello` with a client that is generated from its OpenAPI document. The compiler checks paths,
 * parameters, bodies and answers. `npm run generate` makes `api.ts` from the document; `npm start -- <url>` calls the
 * server. `typed.ts` makes the same calls without generated code.
 */
import createClient from "openapi-fetch";
import type { components, paths } from "./api.ts";

type User = components["schemas"]["User"];

const baseUrl = process.argv[2] ?? "http://127.0.0.1:3000/run/hello";
const hello = createClient<paths>({ baseUrl });

const page = await hello.GET("/users", { params: { query: { page: 2, limit: 3 } } });
const users: User[] = page.data?.users ?? [];

const added = await hello.POST("/users", { body: { name: "Ada", email: "ada@example.com" } });
const location = added.response.headers.get("location");

const refused = await hello.POST("/users", { body: { name: "" } });
const why: string | undefined = refused.error?.detail;

// @ts-expect-error a name is a text: the compiler refuses it, and so does the server
const wrong = await hello.POST("/users", { body: { name: 1 } });

const removed = await hello.DELETE("/users/{id}", { params: { path: { id: 7 } } });

const answers = {
  users: users.map(({ id, name }) => `${id} ${name}`),
  added: added.data,
  location,
  why,
  wrong: wrong.error?.status,
  removed: removed.response.status,
};
process.stdout.write(`${JSON.stringify(answers)}\n`);
