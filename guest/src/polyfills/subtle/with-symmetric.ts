/** AES, HKDF and PBKDF2 for `crypto.subtle`. */
import * as module from "tenon-crypto:symmetric.wasm";
import { type AesModule, aes } from "./aes.ts";
import { type DeriveModule, derivations } from "./derive.ts";
import { algorithms } from "./install.ts";

const symmetric = module as unknown as AesModule & DeriveModule;
algorithms.add([...aes(symmetric), ...derivations(symmetric)]);
