/** Bodies, headers, paths and failures through every available server. */
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeEach } from "../../testing/needs.ts";
import { type Answer, type Exchange, raw, send } from "./http.ts";
import { echoProject, kinds, type Running, startTenon } from "./servers.ts";

const mebibyte = 1024 * 1024;
const limit = 10 * mebibyte;

/** Bytes that no transcoding survives. */
function bytes(size: number): Buffer {
  const buffer = Buffer.alloc(size);
  for (let i = 0; i < size; i++) buffer[i] = (i * 31 + (i >> 8)) & 0xff;
  return buffer;
}

/** The tokens of RFC 7515, appendices A.2 and A.3: the signed text, and the signature. */
const payload = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
const tokens = {
  RS256: [
    `eyJhbGciOiJSUzI1NiJ9.${payload}`,
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZ" +
      "cAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-e" +
      "OkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
  ],
  ES256: [
    `eyJhbGciOiJFUzI1NiJ9.${payload}`,
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
  ],
} as const;

const digest = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");

describeEach(
  "echo on $name",
  kinds,
  ({ start, losesHeaders, sharesInstances, leaksEnvironment, hidesClient, lacksPublicKeys, copiesBodies }) => {
    let server: Running;
    beforeAll(async () => {
      server = await start(echoProject, "echo");
    });
    afterAll(() => server?.stop());

    const call = (exchange: Exchange): Promise<Answer> => {
      const prefix = new URL(server.base).pathname.replace(/\/$/, "");
      return send(server.base, { ...exchange, path: prefix + exchange.path });
    };

    const sizes = [0, 1, 4095, 4096, 4097, mebibyte, ...(copiesBodies ? [] : [5 * mebibyte, limit])];
    test.each(sizes)("a body of %i bytes, announced and chunked", async (size) => {
      const body = bytes(size);
      for (const chunks of [undefined, 65_521]) {
        const answer = await call({
          method: "POST",
          path: "/echo",
          body,
          ...(chunks === undefined ? {} : { chunks }),
        });
        expect(answer.status).toBe(200);
        expect(answer.body.length).toBe(size);
        expect(digest(answer.body)).toBe(digest(body));
      }
    });

    test("the address, scheme, host and base path of a request are not the client's to say", async () => {
      const forged = ["for", "proto", "host", "prefix"].map((name) => [`x-forwarded-${name}`, "https"] as const);
      const answer = await call({ path: "/origin?a=b", headers: forged });
      expect(answer.json()).toEqual({
        ip: hidesClient ? null : "127.0.0.1",
        base: new URL(server.base).pathname.replace(/\/$/, ""),
        url: `http://${new URL(server.base).host}/origin?a=b`,
      });
    });

    test("a body in many small pieces", async () => {
      const body = bytes(5000);
      const answer = await call({ method: "PUT", path: "/echo", body, chunks: 7 });
      expect(digest(answer.body)).toBe(digest(body));
    });

    test("one byte more than 10 MiB is 413, announced and chunked", async () => {
      for (const chunks of [undefined, 65_521]) {
        const exchange = {
          method: "POST",
          path: "/size",
          body: bytes(limit + 1),
          ...(chunks === undefined ? {} : { chunks }),
        };
        const answer = await call(exchange);
        expect(answer.status).toBe(413);
        expect(answer.header("content-type")).toBe("application/problem+json");
        expect(answer.json()).toMatchObject({ type: "about:blank", title: "Content Too Large", status: 413 });
      }
    });

    // Node, and so jco, refuses it before a component sees it, in an answer of its own.
    test.skipIf(sharesInstances)("a body whose chunks are malformed is 400, not a shorter body", async () => {
      const { hostname, port, pathname } = new URL(server.base);
      const head = `POST ${pathname.replace(/\/$/, "")}/size HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`;
      const answer = await raw(hostname, Number(port), `${head}3\r\nabc\r\nZZ\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain("application/problem+json");
    });

    test("a large response", async () => {
      const answer = await call({ path: "/large" });
      expect(answer.body.length).toBe(5 * mebibyte);
      expect(answer.header("content-length")).toBe(String(5 * mebibyte));
    });

    test("repeated and non-ASCII headers arrive as they are, in order", async () => {
      const echoed = ["one", "two, three", ...(losesHeaders ? [] : ["gr\u00fc\u00dfe"])];
      const headers = [...echoed.map((value) => ["x-echo", value] as const), ["X-Mixed-Case", "kept"] as const];
      const answer = await call({ path: "/headers", headers });
      const seen = answer.json() as [string, string][];
      expect(seen.filter(([name]) => name === "x-echo").map(([, value]) => value)).toEqual(echoed);
      if (!losesHeaders) expect(answer.all("x-echo")).toEqual(echoed);
      expect(seen).toContainEqual(["x-mixed-case", "kept"]);
      expect(seen.filter(([name]) => name === "host")).toEqual([["host", new URL(server.base).host]]);
      expect(seen.map(([name]) => name)).not.toContain("connection");
    });

    test.skipIf(losesHeaders)("a header beyond ASCII is sent as Latin-1", async () => {
      expect((await call({ path: "/latin" })).header("x-name")).toBe("Gr\u00fc\u00dfe");
    });

    test.skipIf(losesHeaders)("two cookies stay two", async () => {
      expect((await call({ path: "/headers" })).all("set-cookie")).toEqual(["a=1; Path=/", "b=2; HttpOnly"]);
    });

    test("HEAD has the headers of GET and no body", async () => {
      const get = await call({ path: "/headers" });
      const head = await call({ method: "HEAD", path: "/headers" });
      expect(head.status).toBe(200);
      expect(head.body).toHaveLength(0);
      expect(head.header("content-length")).toBe(get.header("content-length"));
      expect(head.header("content-type")).toBe(get.header("content-type"));
    });

    test.each([
      ["/segment/a%2Fb", { value: "a/b", q: "" }],
      ["/segment/a%3Fb?q=%2F%3F%26", { value: "a?b", q: "/?&" }],
      ["/segment/a+b?q=a+b%2B", { value: "a+b", q: "a b+" }],
      ["/segment/%E2%82%AC%F0%9F%98%80?q=%E2%82%AC", { value: "€😀", q: "€" }],
      ["/segment/%252F?q=%2525", { value: "%2F", q: "%25" }],
    ])("%s is decoded exactly once", async (path, expected) => {
      const answer = await call({ path });
      expect(answer.json()).toMatchObject(expected);
      expect((answer.json() as { url: string }).url).toContain(path);
    });

    test("a malformed escape is 400", async () => {
      expect((await call({ path: "/segment/%zz" })).status).toBe(400);
    });

    test("204 has neither body nor length", async () => {
      const answer = await call({ path: "/empty" });
      expect(answer.status).toBe(204);
      expect(answer.body).toHaveLength(0);
      expect(answer.header("content-length")).toBeUndefined();
    });

    test("an error of the handler's is problem details", async () => {
      const answer = await call({ path: "/teapot" });
      expect(answer.status).toBe(418);
      expect(answer.json()).toMatchObject({
        type: "about:blank",
        status: 418,
        detail: "short and stout",
        instance: "/teapot",
      });
    });

    test("a handler that throws is 500, between two requests that succeed", async () => {
      expect((await call({ path: "/count" })).json()).toEqual({ count: 1 });
      const answer = await call({ path: "/fail" });
      expect(answer.status).toBe(500);
      expect(answer.header("content-type")).toBe("application/problem+json");
      expect(answer.body.toString()).not.toContain("secret");
      const again = (await call({ path: "/count" })).json();
      expect(again).toEqual({ count: sharesInstances ? 2 : 1 });
      await expect.poll(server.errors).toContain("a secret of the handler");
    });

    test.skipIf(lacksPublicKeys).each(Object.entries(tokens))(
      "%s is verified with the key of RFC 7515",
      async (_name, [signed, signature]) => {
        const verify = (token: string) => call({ path: "/verify", headers: [["authorization", `Bearer ${token}`]] });
        const answer = await verify(`${signed}.${signature}`);
        expect([answer.status, answer.json()]).toMatchObject([200, { iss: "joe", exp: 1_300_819_380 }]);
        const changed = await verify(`${signed}.${signature.replace(/^./, (first) => (first === "A" ? "B" : "A"))}`);
        expect([changed.status, changed.header("www-authenticate")]).toEqual([401, 'Bearer error="invalid_token"']);
      },
    );

    test.skipIf(leaksEnvironment)("nothing of the host's environment is seen", async () => {
      expect((await call({ path: "/environment" })).json()).toEqual({ greeting: null, home: null });
    });
  },
);

test("trusted_proxies are believed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tenon-proxies-"));
  await writeFile(
    join(folder, "tenon.toml"),
    '[project]\nname = "echo"\n[server]\ntrusted_proxies = ["127.0.0.0/8"]\n',
  );
  const server = await startTenon([join(echoProject, "dist/echo.wasm")], "echo", folder);
  try {
    const headers = [
      ["x-forwarded-for", "198.51.100.1, 192.0.2.7"],
      ["x-forwarded-proto", "https"],
      ["x-forwarded-host", "shop.example"],
      ["x-forwarded-prefix", "/api"],
    ] as const;
    const answer = await send(server.base, { path: "/run/echo/origin", headers: [...headers] });
    expect(answer.json()).toEqual({ ip: "192.0.2.7", base: "/api/run/echo", url: "https://shop.example/origin" });
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
});

test.each(["request", "shared"])(
  "texts that fill their block, and more, arrive whole: isolation = %s",
  async (isolation) => {
    const folder = await mkdtemp(join(tmpdir(), "tenon-texts-"));
    const settings = `isolation = "${isolation}"\nmax_concurrent = 1\nmax_reuse = 1000000\n`;
    await writeFile(join(folder, "tenon.toml"), `[project]\nname = "echo"\n[server]\n${settings}`);
    const server = await startTenon([join(echoProject, "dist/echo.wasm")], "echo", folder);
    const block = 16 * 1024;
    /** Values of these lengths, each different from the next. */
    const values = (lengths: readonly number[]) =>
      lengths.map((length, i) => `${i}${"abcdefghij".repeat(1 + length / 10)}`.slice(0, length));
    try {
      const sent = [...Array.from({ length: 33 }, (_, i) => [block - 260 + i * 8, 31])];
      sent.push([30_000], [8_000, 9_000, 3], [block, 8_000, 1, 1], Array(50).fill(330), Array(50).fill(600), [1]);
      for (const lengths of sent) {
        const headers = values(lengths).map((value) => ["x-echo", value] as const);
        const answer = await send(server.base, { path: "/run/echo/headers", headers });
        expect(answer.status, `${lengths}`).toBe(200);
        const received = answer.json() as [string, string][];
        expect(received.filter(([name]) => name === "x-echo")).toEqual(headers);
        expect(answer.all("x-echo")).toEqual(values(lengths));
        const small = await send(server.base, { path: "/run/echo/segment/a%20b?q=c" });
        expect(small.json()).toMatchObject({ value: "a b", q: "c", path: "/segment/a%20b" });
      }
    } finally {
      await server.stop();
      await rm(folder, { recursive: true });
    }
  },
);
