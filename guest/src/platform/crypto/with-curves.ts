/** ECDSA, ECDH, Ed25519 and X25519 for `crypto.subtle`. */
import { addAlgorithms } from "./algorithms.ts";
import { montgomery } from "./montgomery.ts";
import { weierstrass } from "./weierstrass.ts";

addAlgorithms(weierstrass);
addAlgorithms(montgomery);
