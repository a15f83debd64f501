/**
 * Calls `examples/hello` with a client that gets its types from the app. Nothing is generated, and the program contains
 * no code of the app. `npm run typed -- <url>` calls the server.
 */
import { client } from "@tenon/sdk/client";
import type app from "../../hello/src/handler.ts";

const baseUrl = process.argv[2] ?? "http://127.0.0.1:3000/run/hello";
const hello = client<typeof app>(baseUrl);

const page = await hello.listUsers({ query: { page: 2, limit: 3 } });
const users = page.ok ? page.data.users : [];

const added = await hello.createUser({ body: { name: "Ada", email: "ada@example.com" } });
const location = added.headers.get("location");

const refused = await hello.createUser({ body: { name: "" } });
const why: string | undefined = refused.ok ? undefined : refused.problem.detail;

// @ts-expect-error a name is a text: the compiler refuses it, and so does the server
const wrong = await hello.createUser({ body: { name: 1 } });

const removed = await hello.deleteUser({ path: { id: 7 } });

const answers = {
  users: users.map(({ id, name }) => `${id} ${name}`),
  added: added.ok ? added.data : undefined,
  location,
  why,
  wrong: wrong.status,
  removed: removed.status,
};
process.stdout.write(`${JSON.stringify(answers)}\n`);
