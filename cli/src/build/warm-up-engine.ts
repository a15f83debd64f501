/**
 * Runs inside the component, before all modules, and so is all in one: what it calls is the engine's, whatever a module puts into
 * the globals. It puts a function beside them that does what the engine does once: it makes tables and shapes when something is
 * first used. A build calls that function before the snapshot, so that no request has to.
 *
 * It draws no random numbers: an instance must not begin with those of the build.
 */
export function warmUpEngine(): void {
  const engine = globalThis as unknown as Record<symbol, unknown>;
  const { subtle } = crypto;
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  const works: (() => unknown)[] = [
    async () => {
      const bytes = encoder.encode("a key of 32 bytes, for a warm-up.");
      const hmac = await subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
      await subtle.verify("HMAC", hmac, await subtle.sign("HMAC", hmac, encoder.encode("x")), encoder.encode("x"));
    },
    ...["SHA-1", "SHA-256", "SHA-384", "SHA-512"].map((hash) => () => subtle.digest(hash, encoder.encode("x"))),
    () => decoder.decode(encoder.encode("ä, 語 and 😀")),
    () => new URL("http://user@[::1]:80/a/../b?c=d&e#f").searchParams.get("c"),
    () => new Date(Date.UTC(2026, 0, 2)).toISOString() + Date.parse("2026-01-02T03:04:05.678+01:00"),
    () => JSON.parse(JSON.stringify([{ a: 1, b: [true, null, "x\n", 1.5e300] }])),
    () => "a1, b2".replace(/([a-z])(\d)/gu, "$2$1").split(/, */),
    () => structuredClone(new Map([[1, new Set([new Uint8Array(1)])]])),
    () => btoa(atob("eA==")) + encodeURIComponent(decodeURIComponent("%C3%A4")),
    () => new Response("x", { headers: new Headers({ a: "b" }) }).text(),
    () => (1234.5).toFixed(1) + [3, 1, 2].sort().toString() + 123n ** 5n,
    () => {
      throw new TypeError("x", { cause: new RangeError("y") });
    },
    async () => {
      throw new Error("z");
    },
  ];
  engine[Symbol.for("tenon.engine")] = async () => {
    for (const work of works) {
      try {
        await work();
      } catch (error) {
        // An engine without it, or the exceptions above.
        String((error as Error).stack);
      }
    }
  };
}
