/** PHC strings: `$<algorithm>[$v=<version>]$<name>=<number>,…$<salt>$<hash>`, base64 without padding. */
import { decodeBase64, encodeBase64 } from "../encoding/base64.ts";
import { type PasswordAlgorithm, VERSIONS } from "./algorithms.ts";

/** The parts of a PHC string. */
export interface Phc {
  readonly algorithm: PasswordAlgorithm;
  readonly parameters: Readonly<Record<string, number>>;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

/** The longest text that is parsed. */
const MAX_LENGTH = 512;
const FORM =
  /^\$([a-z0-9-]{1,32})(?:\$v=(\d{1,4}))?\$((?:[a-z]{1,4}=\d{1,10})(?:,[a-z]{1,4}=\d{1,10})*)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Parses a PHC string; `undefined` when it is malformed or of an unknown algorithm. */
export function parsePhc(text: unknown): Phc | undefined {
  if (typeof text !== "string" || text.length > MAX_LENGTH) return undefined;
  const [, algorithm = "", version, listed = "", salted = "", hashed = ""] = FORM.exec(text) ?? [];
  if (!Object.hasOwn(VERSIONS, algorithm) || version !== VERSIONS[algorithm as PasswordAlgorithm]) return undefined;
  const pairs = listed.split(",").map((each) => each.split("=") as [string, string]);
  const parameters = Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
  const [salt, hash] = [decodeBase64(salted), decodeBase64(hashed)];
  if (salt === undefined || hash === undefined || Object.keys(parameters).length < pairs.length) return undefined;
  return { algorithm: algorithm as PasswordAlgorithm, parameters, salt, hash };
}

/** Writes a PHC string. */
export function writePhc({ algorithm, parameters, salt, hash }: Phc): string {
  const version = VERSIONS[algorithm];
  const listed = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  const parts = [
    algorithm,
    ...(version === undefined ? [] : [`v=${version}`]),
    listed.join(","),
    base64(salt),
    base64(hash),
  ];
  return `$${parts.join("$")}`;
}

function base64(bytes: Uint8Array): string {
  return encodeBase64(bytes).replace(/=+$/, "");
}
