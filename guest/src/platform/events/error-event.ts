/** `ErrorEvent` (HTML Standard, section 8.1.4.3). */
import { defineInterface } from "../interface.ts";
import { type Dictionary, required } from "../web-idl.ts";
import { Event } from "./event.ts";

export class ErrorEvent extends Event {
  readonly #colno: number;
  readonly #error: unknown;
  readonly #filename: string;
  readonly #lineno: number;
  readonly #message: string;

  constructor(type: string, init: object | null = null) {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("ErrorEvent", arguments as unknown as unknown[], 1);
    super(type, init);
    const { colno = 0, error, filename = "", lineno = 0, message = "" } = (init ?? {}) as Dictionary;
    this.#colno = Number(colno) >>> 0;
    this.#error = error;
    this.#filename = `${filename}`;
    this.#lineno = Number(lineno) >>> 0;
    this.#message = `${message}`;
  }

  get message(): string {
    return this.#message;
  }

  get filename(): string {
    return this.#filename;
  }

  get lineno(): number {
    return this.#lineno;
  }

  get colno(): number {
    return this.#colno;
  }

  get error(): unknown {
    return this.#error;
  }
}

defineInterface("ErrorEvent", ErrorEvent);
