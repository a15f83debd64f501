/** RSA for `crypto.subtle`. */
import * as module from "tenon-crypto:rsa.wasm";
import { algorithms, engine, keys } from "./install.ts";
import { type RsaModule, rsa } from "./rsa.ts";

algorithms.add(rsa(module as unknown as RsaModule, engine, keys));
