import type * as real from "../mcp/serve.ts";
import { leftOut } from "./left-out.ts";

export const appWithMcp: typeof real.appWithMcp = /* @__PURE__ */ leftOut("mcp");
