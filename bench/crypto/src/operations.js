/** Operations of `crypto.subtle`, by name: each prepares its keys, and returns the call that is measured. */
const { subtle } = crypto;
const small = new TextEncoder().encode("a short text");
const large = new Uint8Array(1024 * 1024);
const salt = new Uint8Array(16);

const encrypting = async (parameters, data) => {
  const key = await subtle.generateKey({ name: parameters.name, length: 256 }, false, ["encrypt", "decrypt"]);
  return () => subtle.encrypt(parameters, key, data);
};
const deriving = async (parameters) => {
  const key = await subtle.importKey("raw", small, parameters.name, false, ["deriveBits"]);
  return () => subtle.deriveBits(parameters, key, 256);
};
const signing = async (algorithm) => {
  const { privateKey } = await subtle.generateKey(algorithm, false, ["sign", "verify"]);
  return () => subtle.sign(algorithm, privateKey, small);
};
const verifying = async (algorithm) => {
  const { privateKey, publicKey } = await subtle.generateKey(algorithm, false, ["sign", "verify"]);
  const signature = await subtle.sign(algorithm, privateKey, small);
  return () => subtle.verify(algorithm, publicKey, signature, small);
};
const agreeing = async (algorithm) => {
  const { privateKey, publicKey } = await subtle.generateKey(algorithm, false, ["deriveBits"]);
  return () => subtle.deriveBits({ name: algorithm.name, public: publicKey }, privateKey, 256);
};

const es256 = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const es384 = { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" };
const pss = {
  name: "RSA-PSS",
  hash: "SHA-256",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  saltLength: 32,
};

export const operations = {
  "AES-GCM, 12 bytes": () => encrypting({ name: "AES-GCM", iv: new Uint8Array(12) }, small),
  "AES-GCM, 1 MiB": () => encrypting({ name: "AES-GCM", iv: new Uint8Array(12) }, large),
  "AES-CBC, 1 MiB": () => encrypting({ name: "AES-CBC", iv: salt }, large),
  "PBKDF2 with SHA-256, 100,000 iterations": () =>
    deriving({ name: "PBKDF2", hash: "SHA-256", salt, iterations: 100_000 }),
  "HKDF with SHA-256": () => deriving({ name: "HKDF", hash: "SHA-256", salt, info: salt }),
  "ES256, sign": () => signing(es256),
  "ES256, verify": () => verifying(es256),
  "ES384, sign": () => signing(es384),
  "ES384, verify": () => verifying(es384),
  "Ed25519, sign": () => signing({ name: "Ed25519" }),
  "Ed25519, verify": () => verifying({ name: "Ed25519" }),
  "ECDH over P-256": () => agreeing({ name: "ECDH", namedCurve: "P-256" }),
  X25519: () => agreeing({ name: "X25519" }),
  "RSA-PSS of 2048 bits, sign": () => signing(pss),
  "RSA-PSS of 2048 bits, verify": () => verifying(pss),
};

/** Measures an operation for some 200 ms, after a first call. @returns the fastest call in milliseconds */
export async function measured(name) {
  const call = await operations[name]();
  await call();
  let fastest = Number.POSITIVE_INFINITY;
  const end = performance.now() + 200;
  do {
    const start = performance.now();
    await call();
    fastest = Math.min(fastest, performance.now() - start);
  } while (performance.now() < end);
  return fastest;
}
