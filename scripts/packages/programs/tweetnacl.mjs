import nacl from "tweetnacl";

export default () => {
  const pair = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(7));
  const text = new TextEncoder().encode("é");
  const signature = nacl.sign.detached(text, pair.secretKey);
  const key = nacl.randomBytes(32);
  const nonce = nacl.randomBytes(24);
  return [
    [...signature],
    nacl.sign.detached.verify(text, signature, pair.publicKey),
    [...nacl.secretbox.open(nacl.secretbox(text, nonce, key), nonce, key)],
  ];
};
