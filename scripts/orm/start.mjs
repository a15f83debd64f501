// Loaded before tests: `useDatabase(name)` sends the SDK's statements to the sidecar of a database.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sidecar } from "../../cli/dist/embed/sidecar.js";

/** The addresses of sidecars by the names of their databases; a name without one gets a new SQLite each time. */
const addresses = JSON.parse(process.env.TENON_ORM ?? "{}");

let address = Object.values(addresses)[0] ?? "";
globalThis[Symbol.for("tenon.environment")] = () => [["SIDECAR_DB_URL", address]];

globalThis.useDatabase = async (name) => {
  address = addresses[name] || (await startSqlite());
};

let started;

async function startSqlite() {
  await started?.close();
  const url = `sqlite:${join(mkdtempSync(join(tmpdir(), "tenon-orm-")), "test.db")}`;
  started = await Sidecar.start({ kind: "sql", url, listen: "127.0.0.1:0", logLevel: "off" });
  return started.address;
}
