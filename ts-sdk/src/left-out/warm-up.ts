import type * as real from "../app/warm-up.ts";
import { leftOut } from "./left-out.ts";

/** Every app is given to it, so it fails only where a route is warm. */
export const warmUp: typeof real.warmUp = ({ operations }) => {
  if (operations.some(({ options }) => options.warm)) (leftOut("warm") as () => void)();
};
