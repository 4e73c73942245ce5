// How long calls took, as a histogram of Prometheus. Counted for every call, so a series is found by one look-up and nothing is made for it.
import type { MetricValueWithName } from 'prom-client';
import type { Seen } from '../gate/gate.ts';

/** Upper bounds in seconds: a get takes less than the first, a query is stopped after the last. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Series {
  labels: { operation: string; channel: string; outcome: string };
  /** Calls by the first bound that they are within; the last number is of those beyond all bounds. */
  within: number[];
  /** Seconds of all together. */
  sum: number;
}

/**
 * A metric for the registry of prom-client, which writes it out. Its own histogram hashes the labels of every call again, which took longer than
 * the gate itself.
 */
export class CallTimes {
  readonly name = 'register_call_seconds';
  readonly help = 'Time of calls through the gate';
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #series = new Map<string, Series>();

  /** Counts one call. */
  observe({ operation, channel, outcome, seconds }: Seen): void {
    const key = `${operation} ${channel} ${outcome}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels: { operation, channel, outcome }, within: new Array(BOUNDS.length + 1).fill(0), sum: 0 };
      this.#series.set(key, series);
    }
    let at = 0;
    while (at < BOUNDS.length && seconds > BOUNDS[at]!) at += 1;
    series.within[at]! += 1;
    series.sum += seconds;
  }

  /** All values: the calls within each bound (`_bucket`, cumulative), `_sum` in seconds and `_count`. */
  async get() {
    const values: MetricValueWithName<string>[] = [];
    for (const { labels, within, sum } of this.#series.values()) {
      let count = 0;
      within.forEach((calls, at) => {
        count += calls;
        values.push({
          metricName: `${this.name}_bucket`,
          labels: { le: BOUNDS[at] ?? '+Inf', ...labels },
          value: count,
        });
      });
      values.push({ metricName: `${this.name}_sum`, labels, value: sum });
      values.push({ metricName: `${this.name}_count`, labels, value: count });
    }
    return { name: this.name, help: this.help, type: this.type, aggregator: this.aggregator, values };
  }

  /** Forgets everything counted. */
  reset(): void {
    this.#series.clear();
  }
}
