import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";

const text = new TextEncoder().encode("é");

export default () => {
  const secret = new Uint8Array(32).fill(7);
  const signature = ed25519.sign(text, secret);
  const signed = secp256k1.sign(text, secret);
  const made = ed25519.keygen();
  return [
    [...signature],
    ed25519.verify(signature, text, ed25519.getPublicKey(secret)),
    [...signed],
    secp256k1.verify(signed, text, secp256k1.getPublicKey(secret)),
    ed25519.verify(ed25519.sign(text, made.secretKey), text, made.publicKey),
  ];
};
