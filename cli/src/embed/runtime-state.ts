/** The parts of a runtime that its methods take and return. */

/** A page that is served from memory. */
export interface Page {
  /** 200 when left out. */
  readonly status?: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** True when requests for it are left out of the recent ones. */
  readonly unlisted?: boolean;
}

/** A request that was answered. */
export interface RecentRequest {
  readonly id: string;
  /** The time of its arrival, in milliseconds since 1970. */
  readonly time: number;
  /** Left out when it was for the runtime itself, or for no module that there is. */
  readonly module?: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** 499 when the client did not wait for the answer. */
  readonly status: number;
  /** Milliseconds from the head of the request to the head of the response. */
  readonly durationMs: number;
}

/** The state of a part of a budget. */
export interface BudgetRemainder {
  readonly part: "cpu" | "calls" | "bytesOut" | "memory";
  /** The amount of a window: microseconds, calls, bytes or byte seconds. */
  readonly amount: number;
  /** The amount that is left in it; 0 when the part is spent. */
  readonly remaining: number;
  /** The length of a window, in milliseconds. */
  readonly periodMs: number;
  /** Milliseconds to the end of the window, or of the last one that pays for use beyond the amount. */
  readonly resetsInMs: number;
}

/** The state of a module's budget. */
export interface BudgetState {
  readonly module: string;
  /** The status of the answer while a part is spent. */
  readonly whenSpent: "429" | "503";
  readonly parts: readonly BudgetRemainder[];
}

/** An address that is listened on. */
export interface Listening {
  readonly host: string;
  readonly port: number;
  /** Such as `http://127.0.0.1:3000`. */
  readonly url: string;
}
