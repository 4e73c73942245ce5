// Metrics in the text format of Prometheus: duration of calls, queues, charges, served releases.
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  type Metric,
  type MetricObject,
  type MetricValueWithName,
  Registry,
} from 'prom-client';
import type { CallMetric } from '../gate/context.ts';

/** State that is read when the metrics are collected. */
export interface ProcessState {
  /** Queries that run in the engines, or wait for them. */
  queue: { running: number; waiting: number };
  /** Ids of all datasets. */
  packs: string[];
  datasets: { dataset: string; release: string; records: number; collected: Date }[];
  /** Whether Redis responds; null without Redis. */
  redis: boolean | null;
  /** Whether the object storage responds, and the releases still to be fetched; null without RELEASES_URL. */
  storage: { up: boolean; waiting: Readonly<Record<string, string>> } | null;
  /** Reads the `bad_nights` of the last run of a dataset. */
  badNights(dataset: string): Promise<number>;
}

export interface Metrics {
  recordCall(call: CallMetric): void;
  /** Counts an opt-out that waits for an operator because its dataset had too many at once. */
  heldOptOut(dataset: string): void;
  /** The metrics as text, with the media type. */
  text(): Promise<MetricsText>;
  /** The metrics as objects, to be added to those of other threads (`addedMetrics`). */
  values(): Promise<MetricObject[]>;
}

export interface MetricsText {
  type: string;
  text: string;
}

/**
 * How a metric of several threads becomes one: figures of the whole process are the same in each, of delays the
 * longest counts, and the rest are summed.
 */
const ADDING: readonly [RegExp, MetricObject['aggregator']][] = [
  [/^(?:process_|nodejs_version_info|register_(?:queries|release|collected|bad|redis|storage))/, 'first'],
  [/^nodejs_eventloop_lag/, 'max'],
  [/./, 'sum'],
];

/** The metrics of several threads of one process as text. */
export async function addedMetrics(threads: readonly MetricObject[][]): Promise<MetricsText> {
  for (const metric of threads.flat())
    metric.aggregator = ADDING.find(([name]) => name.test(metric.name))?.[1] ?? 'sum';
  const register = AggregatorRegistry.aggregate(threads as MetricObject[][]);
  return { type: register.contentType, text: await register.metrics() };
}

/**
 * Metrics of one process. Names begin with `register_`, those of Node and the process with `nodejs_` and
 * `process_`.
 */
export function openMetrics(standing: () => ProcessState): Metrics {
  const registers = [new Registry()] as [Registry];
  const [register] = registers;
  collectDefaultMetrics({ register });
  const took = new CallTimes();
  register.registerMetric(took as unknown as Metric);
  const charges = new Counter({
    name: 'register_charges_total',
    help: 'Answers that were paid for',
    labelNames: ['operation', 'dataset'],
    registers,
  });
  const charged = new Counter({
    name: 'register_charged_eur_total',
    help: 'Amount charged for answers, in EUR',
    labelNames: ['operation', 'dataset'],
    registers,
  });
  const heldOptOuts = new Counter({
    name: 'register_opt_outs_held_total',
    help: 'Opt-outs that wait for an operator because their dataset had too many within an hour',
    labelNames: ['dataset'],
    registers,
  });
  const gauge = (name: string, help: string, labelNames: string[], fill: (set: Fill, now: ProcessState) => unknown) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        this.reset();
        await fill((labels, value) => this.set(labels, value), standing());
      },
    });
  gauge('register_queries', 'Questions in the engines now', ['state'], (set, { queue }) => {
    set({ state: 'running' }, queue.running);
    set({ state: 'waiting' }, queue.waiting);
  });
  gauge('register_release_records', 'Records of the release that is served', ['dataset', 'release'], (set, now) => {
    for (const { dataset, release, records } of now.datasets) set({ dataset, release }, records);
  });
  gauge('register_collected_seconds', 'When a dataset was last collected (Unix time)', ['dataset'], (set, now) => {
    for (const { dataset, collected } of now.datasets) set({ dataset }, collected.getTime() / 1000);
  });
  const badNights = 'Nights in a row in which the run of a dataset was refused or failed';
  gauge('register_bad_nights', badNights, ['dataset'], async (set, now) => {
    for (const dataset of now.packs) set({ dataset }, await now.badNights(dataset));
  });
  gauge('register_redis_up', '1 while limits are shared over Redis, 0 while it is away', ['use'], (set, { redis }) => {
    if (redis !== null) set({ use: 'limits' }, redis ? 1 : 0);
  });
  gauge('register_storage_up', '1 while the object storage of RELEASES_URL responds', [], (set, { storage }) => {
    if (storage !== null) set({}, storage.up ? 1 : 0);
  });
  gauge('register_release_waiting', '1: a newer release waits to be fetched', ['dataset'], (set, now) => {
    if (now.storage === null) return;
    for (const { dataset } of now.datasets) set({ dataset }, dataset in now.storage.waiting ? 1 : 0);
  });
  return {
    recordCall(call) {
      took.observe(call);
      const { operation, dataset, eur } = call;
      if (eur === 0) return;
      charges.inc({ operation, dataset });
      charged.inc({ operation, dataset }, eur);
    },
    heldOptOut: (dataset) => heldOptOuts.inc({ dataset }),
    text: async () => ({ type: register.contentType, text: await register.metrics() }),
    values: async () => (await register.getMetricsAsJSON()) as MetricObject[],
  };
}

type Fill = (labels: Record<string, string>, value: number) => void;

/** Upper bounds in seconds: a get takes less than the first, a query is cancelled after the last. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Series {
  labels: { operation: string; channel: string; outcome: string };
  /** Number of calls by the smallest bound that they do not exceed; last: calls beyond all bounds. */
  within: number[];
  /** Total seconds. */
  sum: number;
}

/**
 * A metric for the registry of prom-client. The library's histogram hashes the labels of every call, which
 * took longer than the gate.
 */
class CallTimes {
  readonly name = 'register_call_seconds';
  readonly help = 'Time of calls through the gate';
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #series = new Map<string, Series>();

  /** Counts one call. */
  observe({ operation, channel, outcome, seconds }: CallMetric): void {
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

  /** Resets all counts. */
  reset(): void {
    this.#series.clear();
  }
}
