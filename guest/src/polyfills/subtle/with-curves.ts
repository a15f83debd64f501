/** ECDSA, ECDH, Ed25519 and X25519 for `crypto.subtle`. */
import * as module from "tenon-crypto:curves.wasm";
import { algorithms, engine } from "./install.ts";
import { type MontgomeryModule, montgomery } from "./montgomery.ts";
import { type WeierstrassModule, weierstrass } from "./weierstrass.ts";

const curves = module as unknown as WeierstrassModule & MontgomeryModule;
algorithms.add([...weierstrass(curves, engine), ...montgomery(curves)]);
