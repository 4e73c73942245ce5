// What operators measure, in the text format of Prometheus: how long calls take, what waits, what was charged, what is served.
import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import type { Seen } from '../gate/gate.ts';
import { CallTimes } from './call-times.ts';

/** What is looked at when the metrics are asked for. */
export interface Standing {
  /** Questions that the engines run and that wait for them. */
  queue: { running: number; waiting: number };
  datasets: { dataset: string; release: string; records: number; collected: Date }[];
  /** Whether Redis answers; null where none is set. */
  redis: boolean | null;
}

export interface Metrics {
  seen(call: Seen): void;
  /** An opt-out waits for an operator because its dataset had too many at once. */
  heldOptOut(dataset: string): void;
  /** The text, with its media type. */
  text(): Promise<{ type: string; text: string }>;
}

/** Metrics of one process. Names begin with `register_`, those of Node and the process with `nodejs_` and `process_`. */
export function openMetrics(standing: () => Standing): Metrics {
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
    help: 'What was taken for answers, in EUR',
    labelNames: ['operation', 'dataset'],
    registers,
  });
  const held = new Counter({
    name: 'register_opt_outs_held_total',
    help: 'Opt-outs that wait for an operator because their dataset had too many within an hour',
    labelNames: ['dataset'],
    registers,
  });
  const gauge = (name: string, help: string, labelNames: string[], fill: (set: Fill, now: Standing) => void) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        fill((labels, value) => this.set(labels, value), standing());
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
  gauge('register_redis_up', '1 while limits are shared over Redis, 0 while it is away', ['use'], (set, { redis }) => {
    if (redis !== null) set({ use: 'limits' }, redis ? 1 : 0);
  });
  return {
    seen(call) {
      took.observe(call);
      const { operation, dataset, eur } = call;
      if (eur === 0) return;
      charges.inc({ operation, dataset });
      charged.inc({ operation, dataset }, eur);
    },
    heldOptOut: (dataset) => held.inc({ dataset }),
    text: async () => ({ type: register.contentType, text: await register.metrics() }),
  };
}

type Fill = (labels: Record<string, string>, value: number) => void;
