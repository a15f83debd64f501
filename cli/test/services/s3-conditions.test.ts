/** Conditions on S3 hold although others write between the look and the change: a proxy in front of the store writes just then. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { askAt } from "./ask.ts";
import { s3Target } from "./s3.ts";

describeWith("moto_server", "conditions on S3", () => {
  it("DELETE and copy change only what they have looked at", async () => {
    const store = await s3Target.start();
    const endpoint = process.env["AWS_ENDPOINT"] as string;
    let raced = "";
    const proxy = createServer(async (incoming, outgoing) => {
      const body = await buffer(incoming);
      const { method = "GET", url = "/", headers } = incoming;
      request(new URL(url, endpoint), { method, headers }, async (answer) => {
        const bytes = await buffer(answer);
        // The look has its answer; another one writes before it arrives.
        if (method === "HEAD" && raced !== "" && url === `/bucket/${raced}`)
          await store.ask("PUT", `/storage/${raced}`, { body: "of another" });
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(bytes);
      }).end(body);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    process.env["AWS_ENDPOINT"] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const sidecar = await Sidecar.start({
      kind: "storage",
      url: "s3://bucket",
      listen: "127.0.0.1:0",
      logLevel: "off",
    });
    process.env["AWS_ENDPOINT"] = endpoint;
    const ask = askAt(sidecar.address);

    const meta = { "content-type": "text/x", "x-meta-owner": "Ann" };
    await ask("PUT", "/storage/from", { body: "source", headers: meta });
    const made = await ask("PUT", "/storage/a%20b", { body: "mine" });
    const same = { headers: { "if-match": made.headers["etag"] as string } };
    raced = "a%20b";
    expect((await ask("DELETE", "/storage/a%20b", same)).status).toBe(412);
    raced = "";
    expect((await ask("GET", "/storage/a%20b")).text).toBe("of another");
    const { headers } = await ask("HEAD", "/storage/a%20b");
    expect((await ask("DELETE", "/storage/a%20b", { headers: { "if-match": headers["etag"] as string } })).status).toBe(
      204,
    );
    expect((await ask("GET", "/storage/a%20b")).status).toBe(404);

    const only = { headers: { "if-none-match": "*" } };
    raced = "to";
    expect((await ask("POST", "/storage/to?copy=from", only)).status).toBe(412);
    raced = "";
    expect((await ask("GET", "/storage/to")).text).toBe("of another");
    await ask("DELETE", "/storage/to");
    expect((await ask("POST", "/storage/to?copy=from", only)).status).toBe(201);
    const copy = await ask("GET", "/storage/to");
    expect([copy.text, copy.headers]).toEqual(["source", expect.objectContaining(meta)]);

    await sidecar.close();
    proxy.closeAllConnections();
    proxy.close();
    await store.stop();
  });
});
