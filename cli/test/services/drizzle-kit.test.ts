/** `tenon migrate` with folders that drizzle-kit 0.31 has written: tables, a new column, and a change that rebuilds two tables. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { describeEach, type Needs } from "../../../testing/needs.ts";
import { migrate } from "../../src/embed/migrate.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { askAt } from "./ask.ts";
import { folder, startPostgres } from "./stores.ts";

const written = fileURLToPath(new URL("drizzle-kit", import.meta.url));

const databases: readonly { readonly name: string; readonly files: number; readonly needs?: Needs }[] = [
  { name: "sqlite", files: 3 },
  { name: "postgres", files: 2, needs: "postgresql" },
];

describeEach("drizzle-kit's folder, $name", databases, ({ name, files }) => {
  test("is applied once, in its order", async () => {
    const store = name === "postgres" ? await startPostgres() : undefined;
    const url = store?.url ?? `sqlite:${join(folder(), "kit.db")}`;
    const sidecar = await Sidecar.start({ kind: "sql", url, listen: "127.0.0.1:0", logLevel: "off" });
    try {
      const { address } = sidecar;
      const first = await migrate({ address, folder: join(written, name) });
      expect(first.applied.map((file) => file.slice(0, 4))).toEqual(["0000", "0001", "0002"].slice(0, files));
      expect((await migrate({ address, folder: join(written, name) })).applied).toEqual([]);
      const statements = [
        { sql: "INSERT INTO people (name, age) VALUES ('Ann', 7)" },
        { sql: "INSERT INTO pets (owner) SELECT id FROM people" },
        { sql: "SELECT name FROM people, pets WHERE owner = people.id" },
      ];
      const answer = await askAt(address)("POST", "/sql/batch", { json: { statements } });
      expect(answer.json.results?.[2].rows, answer.text).toEqual([{ name: "Ann" }]);
    } finally {
      await sidecar.close();
      await store?.stop();
    }
  });
});
