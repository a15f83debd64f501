/** RSA for `crypto.subtle`. */
import { addAlgorithms } from "./algorithms.ts";
import { rsa } from "./rsa.ts";

addAlgorithms(rsa);
