/** See `symmetric.ts`. */
import * as module from "tenon-crypto:symmetric.wasm";
import { symmetricBy } from "./symmetric-by-module.ts";

export const symmetric = symmetricBy(module as never);
