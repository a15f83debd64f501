/** The list of objects to transfer, which is optional. */
import { sequence } from "../web-idl.ts";

export function transferList(name: string, given: unknown): object[] {
  if (given === undefined) return [];
  return sequence(name, given, (value) => {
    if ((typeof value === "object" && value !== null) || typeof value === "function") return value;
    throw new TypeError(`${name} must have objects only`);
  });
}
