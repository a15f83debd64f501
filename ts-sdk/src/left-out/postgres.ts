import type * as real from "../drizzle/postgres.ts";
import { leftOut } from "./left-out.ts";

export const drizzlePostgres: typeof real.drizzlePostgres = /* @__PURE__ */ leftOut("'postgres'");
