/** The routes of `bench/fair`: one that does nothing, and one for each way to keep a server busy. */
import { env, field, get, httpClient, ok, Path, respond, routes } from "@tenon/sdk";

const Steps = Path("Steps", { steps: field.u32() });
const Size = Path("Size", { bytes: field.u32() });

function loop(steps: number) {
  let sum = 0;
  for (let i = 0; i < steps; i++) sum = (sum + i * i) % 1_000_003;
  return ok({ sum });
}

export default routes({
  plain: get("/plain", () => ok({ message: "hello", n: 1 })),
  endless: get("/endless", () => loop(Number.POSITIVE_INFINITY)),
  loop: get("/loop/{steps}", { path: Steps }, ({ path }) => loop(path.steps)),
  call: get("/call", async () => ok({ status: (await httpClient.get(`${env("SIDECAR_OTHER_URL")}/x`)).status })),
  large: get("/large/{bytes}", { path: Size }, ({ path }) => respond(200, { body: "x".repeat(path.bytes) })),
});
