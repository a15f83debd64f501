/**
 * Runs inside the component, before all modules, so it is self-contained and calls only the engine's functions,
 * whatever a module puts into the globals. It adds two functions, which a build calls before the snapshot. One triggers
 * the engine's work at first use, so that no request has to: tables and object shapes. It draws no random numbers: an
 * instance must not begin with those of the build.
 *
 * The other one makes every random function throw, while handlers of `warm` routes are called, because all instances
 * would share the values that a handler keeps. It returns a function that ends this.
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
  const { defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
  const refuseRandomness = () => {
    const random: readonly (readonly [object, string])[] = [
      [Math, "random"],
      [crypto, "getRandomValues"],
      [crypto, "randomUUID"],
      [subtle, "generateKey"],
    ];
    const ends = random.map(([owner, name]) => {
      const before = getOwnPropertyDescriptor(owner, name);
      const value = () => {
        throw new Error(`${name}: a build warms this route up, and all requests would have the same random values`);
      };
      defineProperty(owner, name, { configurable: true, writable: true, value });
      return () => (before === undefined ? deleteProperty(owner, name) : defineProperty(owner, name, before));
    });
    return () => ends.forEach((end) => void end());
  };
  const warmUp = async () => {
    for (const work of works) {
      try {
        await work();
      } catch (error) {
        // An engine without it, or the exceptions above.
        String((error as Error).stack);
      }
    }
  };
  engine[Symbol.for("tenon.engine")] = { warmUp, refuseRandomness };
}
