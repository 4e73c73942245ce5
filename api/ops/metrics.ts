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
  queue: () => Promise<{ running: number; waiting: number }>;
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
  /** Counts a statement of a caller that ended the process of statements. */
  endedSql(): void;
  /** The metrics as text, with the media type. */
  text(): Promise<MetricsText>;
  /** The metrics as objects, to be added to those of other threads (`addedMetrics`). */
  values(): Promise<MetricObject[]>;
}

export interface MetricsText {
  type: string;
  text: string;
}

/** A panel of the dashboard: `@` in a query is the selection of processes. */
interface Panel {
  title: string;
  /** Unit of Grafana. */
  unit: 'none' | 'reqps' | 's' | 'bytes' | 'percentunit' | 'currencyEUR';
  /** A figure at the top; else a chart over time. */
  figure?: true;
  /** PromQL and the name of its lines. */
  queries: readonly (readonly [query: string, legend: string])[];
}

interface MetricRow {
  help?: string;
  labels?: readonly string[];
  panels: readonly Panel[];
}

const FAULTS = 'outcome=~"internal|unavailable|query_timeout"';

/** The metrics of the register, and the panels of the dashboard (`dashboard.ts`) for each, also of Node and the process. */
export const METRICS = {
  register_call_seconds: {
    help: 'Time of calls through the gate',
    labels: ['operation', 'channel', 'outcome'],
    panels: [
      {
        title: 'Calls per second',
        unit: 'reqps',
        figure: true,
        queries: [['sum(rate(register_call_seconds_count@[5m]))', 'calls']],
      },
      {
        title: 'Failed calls',
        unit: 'percentunit',
        figure: true,
        queries: [
          [
            `sum(rate(register_call_seconds_count@{${FAULTS}}[5m])) / sum(rate(register_call_seconds_count@[5m]))`,
            'failed',
          ],
        ],
      },
      ...(['operation', 'outcome', 'channel'] as const).map(
        (label): Panel => ({
          title: `Calls by ${label}`,
          unit: 'reqps',
          queries: [[`sum by (${label}) (rate(register_call_seconds_count@[5m]))`, `{{${label}}}`]],
        }),
      ),
      {
        title: 'Duration of calls',
        unit: 's',
        queries: [0.5, 0.95, 0.99].map((share) => [
          `histogram_quantile(${share}, sum by (le) (rate(register_call_seconds_bucket@[5m])))`,
          `${share * 100} %`,
        ]),
      },
      {
        title: 'Slowest operations (99 %)',
        unit: 's',
        queries: [
          [
            'topk(8, histogram_quantile(0.99, sum by (le, operation) (rate(register_call_seconds_bucket@[5m]))))',
            '{{operation}}',
          ],
        ],
      },
    ],
  },
  register_charges_total: {
    help: 'Answers that were paid for',
    labels: ['operation', 'dataset'],
    panels: [
      {
        title: 'Paid answers by dataset',
        unit: 'reqps',
        queries: [['sum by (dataset) (rate(register_charges_total@[5m]))', '{{dataset}}']],
      },
    ],
  },
  register_charged_eur_total: {
    help: 'Amount charged for answers, in EUR',
    labels: ['operation', 'dataset'],
    panels: [
      {
        title: 'Charged in 24 hours',
        unit: 'currencyEUR',
        figure: true,
        queries: [['sum(increase(register_charged_eur_total@[24h]))', 'EUR']],
      },
      {
        title: 'Charged by day and dataset',
        unit: 'currencyEUR',
        queries: [['sum by (dataset) (increase(register_charged_eur_total@[24h]))', '{{dataset}}']],
      },
    ],
  },
  register_opt_outs_held_total: {
    help: 'Opt-outs that wait for an operator because their dataset had too many within an hour',
    labels: ['dataset'],
    panels: [
      {
        title: 'Opt-outs that wait for an operator',
        unit: 'none',
        queries: [['sum by (dataset) (increase(register_opt_outs_held_total@[1h]))', '{{dataset}}']],
      },
    ],
  },
  register_sql_ended_total: {
    help: 'Statements of callers that ended the process of statements, or were refused because they had',
    labels: [],
    panels: [
      {
        title: 'Statements that ended the SQL process',
        unit: 'none',
        queries: [['sum(increase(register_sql_ended_total@[1h]))', 'statements']],
      },
    ],
  },
  register_queries: {
    help: 'Questions in the engines now',
    labels: ['state'],
    panels: [
      {
        title: 'Queries in the engines',
        unit: 'none',
        queries: [['sum by (instance, state) (register_queries@)', '{{instance}} {{state}}']],
      },
    ],
  },
  register_release_records: {
    help: 'Records of the release that is served',
    labels: ['dataset', 'release'],
    panels: [
      {
        title: 'Records by release',
        unit: 'none',
        queries: [['max by (dataset, release) (register_release_records@)', '{{dataset}} {{release}}']],
      },
    ],
  },
  register_collected_seconds: {
    help: 'When a dataset was last collected (Unix time)',
    labels: ['dataset'],
    panels: [
      {
        title: 'Oldest dataset',
        unit: 's',
        figure: true,
        queries: [['max(time() - max by (dataset) (register_collected_seconds@))', 'age']],
      },
      {
        title: 'Age of the data',
        unit: 's',
        queries: [['time() - max by (dataset) (register_collected_seconds@)', '{{dataset}}']],
      },
    ],
  },
  register_bad_nights: {
    help: 'Nights in a row in which the run of a dataset was refused or failed',
    labels: ['dataset'],
    panels: [
      {
        title: 'Nights in a row without a good run',
        unit: 'none',
        queries: [['max by (dataset) (register_bad_nights@)', '{{dataset}}']],
      },
    ],
  },
  register_redis_up: {
    help: '1 while limits are shared over Redis, 0 while it is away',
    labels: ['use'],
    panels: [{ title: 'Redis', unit: 'none', queries: [['min by (instance) (register_redis_up@)', '{{instance}}']] }],
  },
  register_storage_up: {
    help: '1 while the object storage of RELEASES_URL responds',
    panels: [
      {
        title: 'Object storage',
        unit: 'none',
        queries: [['min by (instance) (register_storage_up@)', '{{instance}}']],
      },
    ],
  },
  register_release_waiting: {
    help: '1: a newer release waits to be fetched',
    labels: ['dataset'],
    panels: [
      {
        title: 'Releases that wait to be fetched',
        unit: 'none',
        queries: [['sum by (instance) (register_release_waiting@)', '{{instance}}']],
      },
    ],
  },
  up: { panels: [{ title: 'Processes', unit: 'none', figure: true, queries: [['sum(up@)', 'up']] }] },
  process_resident_memory_bytes: {
    panels: [{ title: 'Memory', unit: 'bytes', queries: [['process_resident_memory_bytes@', '{{instance}}']] }],
  },
  process_cpu_seconds_total: {
    panels: [
      { title: 'Processor', unit: 'percentunit', queries: [['rate(process_cpu_seconds_total@[5m])', '{{instance}}']] },
    ],
  },
  nodejs_eventloop_lag_p99_seconds: {
    panels: [
      {
        title: 'Delay of the event loop (99 %)',
        unit: 's',
        queries: [['nodejs_eventloop_lag_p99_seconds@', '{{instance}}']],
      },
    ],
  },
} satisfies Record<string, MetricRow>;
type MetricName = keyof typeof METRICS;

/** Help and labels of a metric, as prom-client takes them. */
function describe(name: MetricName): { help: string; labelNames: string[] } {
  const { help = name, labels = [] }: MetricRow = METRICS[name];
  return { help, labelNames: [...labels] };
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
  const counter = (name: MetricName) => new Counter({ name, ...describe(name), registers });
  const [charges, charged, heldOptOuts, endedSql] = [
    counter('register_charges_total'),
    counter('register_charged_eur_total'),
    counter('register_opt_outs_held_total'),
    counter('register_sql_ended_total'),
  ];
  const gauge = (name: MetricName, fill: (set: Fill, now: ProcessState) => unknown) =>
    new Gauge({
      ...{ name, ...describe(name), registers },
      async collect() {
        this.reset();
        await fill((labels, value) => this.set(labels, value), standing());
      },
    });
  gauge('register_queries', async (set, { queue }) => {
    const { running, waiting } = await queue();
    set({ state: 'running' }, running);
    set({ state: 'waiting' }, waiting);
  });
  gauge('register_release_records', (set, now) => {
    for (const { dataset, release, records } of now.datasets) set({ dataset, release }, records);
  });
  gauge('register_collected_seconds', (set, now) => {
    for (const { dataset, collected } of now.datasets) set({ dataset }, collected.getTime() / 1000);
  });
  gauge('register_bad_nights', async (set, now) => {
    for (const dataset of now.packs) set({ dataset }, await now.badNights(dataset));
  });
  gauge('register_redis_up', (set, { redis }) => {
    if (redis !== null) set({ use: 'limits' }, redis ? 1 : 0);
  });
  gauge('register_storage_up', (set, { storage }) => {
    if (storage !== null) set({}, storage.up ? 1 : 0);
  });
  gauge('register_release_waiting', (set, now) => {
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
    endedSql: () => endedSql.inc(),
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
  readonly help = METRICS.register_call_seconds.help;
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
