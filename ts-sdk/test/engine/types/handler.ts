/** Uses that `@tenon/sdk/engine` allows a handler, and uses that it refuses. */
import { get, ok, post, respond, routes } from "@tenon/sdk";

const encoder = new TextEncoder();

export default routes({
  verify: post("/verify", async (_, req) => {
    const key = await crypto.subtle.importKey("raw", encoder.encode("k"), { name: "HMAC", hash: "SHA-256" }, false, [
      "verify",
    ]);
    const signature = Uint8Array.from(atob(req.headers.get("x-signature") ?? ""), (char) => char.charCodeAt(0));
    return ok({ valid: await crypto.subtle.verify("HMAC", key, signature, req.body ?? new Uint8Array()) });
  }),
  globals: get("/globals", async (_, req) => {
    const url = new URL(req.url);
    const form = new FormData();
    form.append("file", new File(["x"], "x.txt"));
    const answer = await fetch(url, { method: "POST", body: form, signal: AbortSignal.timeout(100) });
    answer.body?.pipeThrough(new DecompressionStream("gzip"));
    for (const [name, value] of [...answer.headers.entries()]) form.append(name, structuredClone({ value }).value);
    setTimeout(() => {}, 1);
    queueMicrotask(() => {});
    return respond(200, { body: new Uint8Array(await new Response(url.searchParams.get("a")).arrayBuffer()) });
  }),
});

// @ts-expect-error there is no such global
new WebSocket("ws://a");
// @ts-expect-error there is no such global
caches.open("a");
// Added by the build to components that name it.
navigator.userAgent;
new URLPattern({ pathname: "/:id" }).exec("https://a.example/1")?.pathname.groups["id"];
new ReadableStream<Uint8Array>().pipeThrough(new TextDecoderStream());
// @ts-expect-error there is no such global
new BroadcastChannel("a");
// @ts-expect-error there is no such global
new Worker("a");
// @ts-expect-error there is no such global
setImmediate(() => {});
// Added by the build, with the algorithms that the code names.
const key: Promise<CryptoKey> = crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, true, ["encrypt"]);
const pair: Promise<CryptoKeyPair> = crypto.subtle.generateKey("Ed25519", true, ["sign"]);
key.then((it) => crypto.subtle.encrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, it, new Uint8Array(1)));
pair.then(({ publicKey }) => crypto.subtle.exportKey("jwk", publicKey)).then(({ x }) => x);
// @ts-expect-error there is no such operation
crypto.subtle.encapsulateKey;
new Response("").bytes();
new Response("").clone();
Response.error();
URL.canParse("a");
fetch("http://a/", { redirect: "manual", duplex: "half" });
// @ts-expect-error there is no such value
fetch("http://a/", { redirect: "never" });
