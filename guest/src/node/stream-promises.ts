/** `node:stream/promises` inside a component. */
import { promises } from "./stream.ts";

export const { finished, pipeline } = promises;
export default promises;
