/** Headers with values from files, such as an API's key. */
import { readFileSync, statSync } from "node:fs";
import { validateHeaderName, validateHeaderValue } from "node:http";
import { systemReason, TenonError } from "../errors.ts";

const MAX_BYTES = 16 * 1024;

/** Headers of the connection, which no file may set. */
const RESERVED = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "upgrade",
  "te",
  "trailer",
  "expect",
]);

/** A header that each request gets. */
export class HeaderFile {
  /** In lower case. */
  readonly name: string;
  readonly #file: string;
  #value: string;
  #changed: number;

  /** @throws TenonError `CONFIG` for an invalid name or file; the error never contains the file's content */
  constructor(name: string, file: string) {
    this.name = name.toLowerCase();
    this.#file = file;
    try {
      validateHeaderName(name);
    } catch {
      throw new TenonError("CONFIG", `${JSON.stringify(name)} is not a header's name`);
    }
    if (RESERVED.has(this.name)) throw new TenonError("CONFIG", `the header ${this.name} belongs to the connection`);
    this.#changed = this.#modified();
    this.#value = this.#read();
  }

  /** Returns the value. A changed file is read again, so that a credential can be replaced while requests run. */
  value(): string {
    const modified = this.#modified();
    if (modified !== this.#changed) {
      this.#value = this.#read();
      this.#changed = modified;
    }
    return this.#value;
  }

  #modified(): number {
    try {
      return statSync(this.#file).mtimeMs;
    } catch (error) {
      throw new TenonError("CONFIG", `${this.#file} cannot be read: ${systemReason(error)}`, undefined, error);
    }
  }

  #read(): string {
    let value: string;
    try {
      value = readFileSync(this.#file, "utf8").trim();
    } catch (error) {
      throw new TenonError("CONFIG", `${this.#file} cannot be read: ${systemReason(error)}`, undefined, error);
    }
    try {
      if (value === "" || value.length > MAX_BYTES) throw new Error();
      validateHeaderValue(this.name, value);
    } catch {
      throw new TenonError(
        "CONFIG",
        `${this.#file} has no value for the header ${this.name}: one line of text is needed`,
      );
    }
    return value;
  }
}
