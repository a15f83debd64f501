// The probe on the engine as shipped with componentize-js: the engine's own `fetch` event, without Tenon.
import { probe } from "./probe.js";

addEventListener("fetch", (event) => event.respondWith(answer(event.request)));

async function answer(request) {
  const report = await probe(await request.text());
  return new Response(report, { headers: { "content-type": "application/json" } });
}
