/** The page that `tenon dev` gives a browser whose request ended in an exception. */
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { develop, developing, project, served } from "./develop.ts";
import { send } from "./http.ts";

developing();

const handler = `import { get, ok, routes } from "@tenon/sdk";
interface Order {
  id: number;
}
const find = (id: number): Order => {
  throw new RangeError(\`no <b>order</b> \${id}\`);
};
export default routes({
  fine: get("/fine", () => ok({})),
  read: get("/read", () => ok(find(7))),
  later: get("/later", async () => Promise.resolve(8).then(find).then(ok)),
  lost: get("/lost", () => {
    (async () => find(9))();
    return ok({});
  }),
});
`;

interface Listed {
  readonly path: string;
  readonly transcript: number | null;
}

test("shows the stack, mapped to the sources, to browsers alone", async () => {
  const at = await project("thrown", handler, `[server]\nport = ${await freePort()}\n`);
  const { base, url, services } = await served(develop(at), "thrown");
  const ask = (path: string, accept: string) =>
    send(base, { path: `/run/thrown${path}`, headers: [["accept", accept]] });

  const plain = await ask("/read", "application/json");
  expect([plain.status, plain.json()]).toEqual([
    500,
    {
      type: "about:blank",
      title: "Internal Server Error",
      status: 500,
      detail: "The request failed.",
    },
  ]);
  expect((await ask("/fine", "text/html")).header("content-type")).toBe("application/json");

  for (const [path, id] of [
    ["/read", 7],
    ["/later", 8],
  ] as const) {
    const page = await ask(path, "text/html,application/xhtml+xml");
    const html = page.body.toString();
    expect([page.status, page.header("content-type")]).toEqual([500, "text/html; charset=utf-8"]);
    expect(html).toContain(`RangeError: no &lt;b&gt;order&lt;/b&gt; ${id}`);

    // As the page's script does it.
    const map = (await send(url, { path: "/_tenon/map" })).json();
    const stack = { textContent: `${/<pre[^>]*>([\s\S]*?)<\/pre>/.exec(html)?.[1]}` };
    const script = /<script>([\s\S]*?)<\/script>/.exec(html)?.[1] ?? "";
    runInNewContext(script, {
      document: { querySelector: () => stack },
      fetch: async () => ({ json: async () => map }),
      setInterval: () => 0,
    });
    await expect.poll(() => stack.textContent).toMatch(/at find\d* \(src\/handler\.ts:6:9\)/);
    expect(stack.textContent).toMatch(/\n\nsrc\/handler\.ts:6:9\n[\s\S]*\n> {4}6 \| {3}throw new RangeError/);
  }

  // A rejection that nobody awaits is in the request's log, and the list has no assets of /docs.
  expect((await send(url, { path: "/docs/swagger-ui.css" })).status).toBe(200);
  expect((await ask("/lost", "application/json")).status).toBe(200);
  const { requests } = (await send(services, { path: "/runtime" })).json() as { requests: Listed[] };
  expect(requests.map(({ path }) => path.replace("/run/thrown", ""))).toEqual([
    "/read",
    "/fine",
    "/read",
    "/later",
    "/lost",
  ]);
  const kept = await send(services, { path: `/runtime/requests/${requests.at(-1)?.transcript}` });
  expect(kept.body.toString()).toContain("Unhandled promise rejection: RangeError: no <b>order</b> 9");
});
