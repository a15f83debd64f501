import type * as real from "../drizzle/sqlite.ts";
import { leftOut } from "./left-out.ts";

export const drizzleSqlite: typeof real.drizzleSqlite = /* @__PURE__ */ leftOut("'sqlite'");
