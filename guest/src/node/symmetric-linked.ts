/** See `symmetric.ts`. */
import * as module from "tenon-crypto:symmetric.wasm";
import type { SymmetricModule } from "./symmetric.ts";

export const symmetric = module as unknown as SymmetricModule;
