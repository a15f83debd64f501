import { blake3 } from "@noble/hashes/blake3.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

export default () =>
  [sha256, keccak_256, blake3]
    .map((hash) => bytesToHex(hash(utf8ToBytes("é"))))
    .concat(bytesToHex(hmac(sha256, utf8ToBytes("k"), utf8ToBytes("m"))));
