/** The use of one request, for the embedding program. */

/** The use of one request of a module, which has ended. */
export interface RequestUsage {
  /** The module's name. */
  readonly module: string;
  /** The request's id, as in `X-Request-Id` and in the log. */
  readonly requestId: string;
  /** Processor time in microseconds: of the guest, and of the runtime for the guest. */
  readonly cpuUs: number;
  /** The largest size of its memories together. */
  readonly peakMemoryBytes: number;
  /** Outbound calls, also those that were refused. */
  readonly calls: number;
  /** Bytes of its body, and of the responses to its calls. */
  readonly bytesIn: number;
  /** Bytes of the bodies of its calls, and of its response. */
  readonly bytesOut: number;
}

export type UsageListener = (usage: RequestUsage) => void;
