/** Types of code mode: `search` and `execute` in place of one tool for each route. */
import type { Request } from "../../http/request.ts";
import type { Called, Callee } from "../call-tool.ts";
import type { Members } from "../messages.ts";
import type { McpOptions, ToolTable } from "../types.ts";

/** The two tools. */
export interface CodeMode {
  /** Their definitions as JSON. */
  readonly definitions: readonly string[];
  /** Calls one of them. @throws ProtocolError */
  call(params: Members, request: Request, callee: Callee, table: ToolTable, options: McpOptions): Promise<Called>;
}

/** Second runtimes, which share no object with the app's, and the function of the engine that a confirmation needs. */
export interface Isolate {
  /** Begins with a new program. A component has one at a time. */
  open(): OpenIsolate;
  /** HMAC with SHA-256. */
  hmac(key: Uint8Array, data: Uint8Array): Uint8Array;
}

/** A runtime for one program. */
export interface OpenIsolate {
  /**
   * Hands a text over, and returns what the program says then, or the number of the reason why it is over: 1 is for time, 2 for memory.
   * Both limits are for everything since `open`.
   */
  exchange(text: string, cpuUs: number, memoryBytes: number): string | number;
  /** Microseconds and bytes that the program has used. */
  usage(): readonly [cpuUs: number, memoryBytes: number];
}

/** A text for the isolate: a program to run, or the answer of a call. */
export type ToIsolate =
  | { readonly run: string; readonly input?: unknown }
  | { readonly call: number; readonly answer: unknown }
  | { readonly call: number; readonly refused: string };

/** An error of a program. */
export interface ProgramError {
  readonly kind: "thrown" | "limit" | "syntax" | "confirm";
  readonly message: string;
  readonly limit?: string;
  readonly name?: string;
  readonly line?: number;
  readonly column?: number;
  readonly stack?: string;
}

/** A message of a program: calls, lines of its log, and its end. A value is a text of JSON. */
export interface FromIsolate {
  readonly calls: readonly (readonly [call: number, route: string, input: unknown])[];
  readonly logs: readonly (readonly [isError: boolean, message: string])[];
  readonly done?: { readonly ok: true; readonly value?: string } | { readonly ok: false; readonly error: ProgramError };
}
