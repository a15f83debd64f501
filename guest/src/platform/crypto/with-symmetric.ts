/** AES, HKDF and PBKDF2 for `crypto.subtle`. */
import { aes } from "./aes.ts";
import { addAlgorithms } from "./algorithms.ts";
import { derivations } from "./derive.ts";

addAlgorithms(aes);
addAlgorithms(derivations);
