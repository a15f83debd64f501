/** An app of notes with tenants, for attacks by programs of code mode. */
import { bearer, del, error, field, get, group, list, ok, post, routes, secret, Type, use } from "@tenon/sdk";

const Note = Type("Note", { id: field.u32(), text: field.string(), tenant: field.string() });

/** A request that reached a handler. */
export interface SeenRequest {
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly user: string;
  readonly headers: Readonly<Record<string, string>>;
}

let seen: SeenRequest[] = [];
let notes: { id: number; text: string; tenant: string }[] = [];

function reset(): void {
  seen = [];
  notes = [
    { id: 1, text: "of ada", tenant: "ada" },
    { id: 2, text: "private of eve", tenant: "eve" },
  ];
}

const signedIn = use(
  bearer(async (token) => ({ "token-of-ada": { name: "ada" }, "token-of-root": { name: "root" } })[token]),
);

type Req = { method: string; path: string; query: string; headers: Iterable<readonly [string, string]> };
const note = (route: string, { method, path, query, headers }: Req, user = "") => {
  seen.push({ route, method, path, query, user, headers: Object.fromEntries(headers) });
  void secret("KEY");
};
/** The tenant that a proxy has put into the request. */
const tenantOf = ({ headers }: Req): string => Object.fromEntries(headers)["x-tenant"] ?? "";

/** Makes the app. @param include the routes that are tools */
export function makeApp(include: readonly string[] | undefined) {
  reset();
  Object.assign(globalThis, { ofTheApp: () => secret("KEY") });
  return routes(
    {
      notes: group("/notes", {
        /** Lists the notes of the caller. */
        list: signedIn.get(
          "",
          {
            query: { q: field.string().optional() },
            headers: { "x-tenant": field.string().optional() },
            response: list(Note),
          },
          (_, req, { user }) => {
            note("notes.list", req, user.name);
            return ok(notes.filter(({ tenant }) => tenant === tenantOf(req)));
          },
        ),
        /** Finds a note. */
        find: signedIn.get("/{id}", { path: { id: field.string() } }, ({ path }, req, { user }) => {
          note("notes.find", req, user.name);
          return ok({ id: path.id });
        }),
        /** Adds a note. */
        add: signedIn.post(
          "",
          { body: { text: field.string({ max: 100 }) }, response: Note },
          ({ body }, req, { user }) => {
            note("notes.add", req, user.name);
            const added = { id: notes.length + 1, text: body.text, tenant: user.name };
            notes.push(added);
            return ok(added);
          },
        ),
        /** Removes a note. */
        remove: signedIn.del("/{id}", { path: { id: field.u32() } }, ({ path }, req, { user }) => {
          note("notes.remove", req, user.name);
          notes = notes.filter(({ id }) => id !== path.id);
          return ok({ removed: path.id });
        }),
        // No tool.
        admin: signedIn.get("/admin", (_, req, { user }) => {
          note("notes.admin", req, user.name);
          return ok({ id: "admin", all: notes });
        }),
      }),
      tree: signedIn.get("/tree/{rest*}", { path: { rest: field.string() } }, ({ path }, req, { user }) => {
        note("tree", req, user.name);
        return ok({ rest: path.rest });
      }),
      /** Repeats its request, as a page for debugging does. */
      echo: signedIn.get("/echo", (_, req, { user }) => {
        note("echo", req, user.name);
        return ok({ headers: [...req.headers] });
      }),
      forbidden: signedIn.get("/forbidden", (_, _req, { user }) => (user.name === "root" ? ok({}) : error(403, "no"))),
      // No tools.
      env: get("/env", (_, req) => {
        note("env", req);
        return ok({ key: secret("KEY") });
      }),
      wipe: del("/wipe", (_, req) => {
        note("wipe", req);
        notes = [];
        return ok({});
      }),
      any: post("/{tenant}", { path: { tenant: field.string() } }, (_, req) => {
        note("any", req);
        return ok({});
      }),
      seen: get("/seen", () => {
        const all = { seen, notes, polluted: "polluted" in {} || "polluted" in [] };
        reset();
        return ok(all);
      }),
    },
    {
      mcp: {
        code: true,
        ...(include === undefined ? {} : { include }),
        confirm: ({ method }) => method === "DELETE",
        limits: { cpuMs: 500, memoryBytes: 8 << 20, calls: 5, outputBytes: 2_000, logBytes: 2_000 },
      },
    },
  );
}
