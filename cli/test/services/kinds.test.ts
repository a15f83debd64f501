/** The kinds of sidecar are a table in Rust, which opens stores, and one in TypeScript, which names them to users. */
import { expect, it } from "vitest";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { type SidecarKind, sidecarKind, sidecarKindNames } from "../../src/embed/sidecar-kinds.ts";

const start = (kind: string, url: string) =>
  Sidecar.start({ kind: kind as SidecarKind, url, listen: "127.0.0.1:0", logLevel: "off" });

it("are the same in both", async () => {
  // `tenon sidecar http` has options of its own.
  const [last, ...rest] = [...sidecarKindNames, "http"].reverse();
  const listed = `${rest.reverse().join(", ")} or ${last}`;
  await expect(start("none", "sqlite:none.db")).rejects.toMatchObject({
    code: "CONFIG",
    message: `\`none\` is not a kind of sidecar: use ${listed}`,
  });
});

it.each(sidecarKindNames)("%s has the stores in both", async (kind) => {
  const refused = await start(kind, "none://secret").catch((error: Error) => error);
  if (!(refused instanceof Error)) throw new Error("it has started");
  const { message } = refused;
  expect(message).not.toContain("secret");
  const schemes = (text: string) => [...new Set([...text.matchAll(/([a-z0-9+]+):/g)].map(([, scheme]) => scheme))];
  const ports = (scheme: string | undefined) => !/^(host\d?|[\d]+)$/.test(scheme ?? "");
  const told = schemes(sidecarKind(kind).stores).filter(ports);
  expect(told.length).toBeGreaterThan(1);
  // The error has an example of most of them.
  for (const scheme of schemes(message.split("such as")[1] ?? "").filter(ports)) expect(told).toContain(scheme);
});
