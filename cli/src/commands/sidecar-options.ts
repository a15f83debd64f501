/** Options that all sidecars share. */
import { readFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { systemReason, TenonError } from "../errors.ts";

/** The variable that the bearer token may come from. */
export const TOKEN_VARIABLE = "TENON_SIDECAR_TOKEN";

/** The bearer token that requests must have, when one is said. */
export function tokenFrom({ tokenFile }: { readonly tokenFile?: string }): string | undefined {
  const token = tokenFile === undefined ? process.env[TOKEN_VARIABLE] : secretFile(tokenFile);
  if (token === "") throw new TenonError("CONFIG", "the bearer token is empty", "put a long random text into it");
  return token;
}

/** The text of a file, without the line end that editors leave. */
export function secretFile(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new TenonError("CONFIG", `${file} cannot be read: ${systemReason(error)}`, undefined, error);
  }
}

/** A whole number from 1 on. */
export function positive(text: string): number {
  const number = /^[0-9]{1,10}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 0xffff_ffff) throw new InvalidArgumentError("It takes a number from 1 on.");
  return number;
}
