/** `node:timers/promises` inside a component. */
import { promises } from "./timers.ts";

export const { setTimeout, setImmediate } = promises;
export default promises;
