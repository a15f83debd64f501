/** Metrics of a sidecar, with the names of the other sidecars (`crates/services/src/http/metrics.rs`). */

/** Bucket bounds in seconds, from 100 µs on, each four times the previous one. */
const BUCKETS = Array.from({ length: 10 }, (_, i) => 0.0001 * 4 ** i);

const METHODS = new Set(["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"]);

interface Histogram {
  readonly counts: number[];
  count: number;
  sum: number;
}

/** Counters of requests and of the time until an answer's head. */
export class Metrics {
  readonly #answers = new Map<string, number>();
  readonly #durations = new Map<string, Histogram>();
  /** Attempts beyond each request's first. */
  retries = 0;

  /** @param route the rule that allowed it, because client input must not become a label */
  count(route: string, method: string, status: number, seconds: number): void {
    const labels = `route=${JSON.stringify(route)},method="${METHODS.has(method) ? method : "other"}",status="${status}"`;
    this.#answers.set(labels, (this.#answers.get(labels) ?? 0) + 1);
    const histogram = this.#durations.get(route) ?? { counts: BUCKETS.map(() => 0), count: 0, sum: 0 };
    for (const [i, bound] of BUCKETS.entries())
      if (seconds <= bound) histogram.counts[i] = (histogram.counts[i] ?? 0) + 1;
    histogram.count++;
    histogram.sum += seconds;
    this.#durations.set(route, histogram);
  }

  /** OpenMetrics 1.0 text. */
  toString(): string {
    const lines = [
      "# HELP tenon_sidecar_requests Requests answered, by route, method and status.",
      "# TYPE tenon_sidecar_requests counter",
      ...[...this.#answers].map(([labels, value]) => `tenon_sidecar_requests_total{${labels}} ${value}`),
      "# HELP tenon_sidecar_request_duration_seconds Time until the answer's head.",
      "# TYPE tenon_sidecar_request_duration_seconds histogram",
      ...[...this.#durations].flatMap(([route, { counts, count, sum }]) => {
        const label = `route=${JSON.stringify(route)}`;
        return [
          `tenon_sidecar_request_duration_seconds_sum{${label}} ${sum}`,
          `tenon_sidecar_request_duration_seconds_count{${label}} ${count}`,
          ...BUCKETS.map(
            (bound, i) => `tenon_sidecar_request_duration_seconds_bucket{le="${bound}",${label}} ${counts[i]}`,
          ),
          `tenon_sidecar_request_duration_seconds_bucket{le="+Inf",${label}} ${count}`,
        ];
      }),
      "# HELP tenon_sidecar_upstream_retries Attempts beyond each request's first.",
      "# TYPE tenon_sidecar_upstream_retries counter",
      `tenon_sidecar_upstream_retries_total ${this.retries}`,
      "# EOF",
    ];
    return `${lines.join("\n")}\n`;
  }
}
