// One and two threads (WORKERS): processor time of a call, throughput, and how evenly two threads share the calls.
import { drawValues } from '../draw.ts';
import type { Load } from '../load.ts';
import { alternate, type BenchServer, measureCost, type Rounds } from '../measure.ts';
import { benchQuestionsFor } from '../questions.ts';
import { OPERATOR_HEADERS, type Service, startService } from '../service.ts';
import type { Subject } from '../subject.ts';

export interface Workers {
  dataset: string;
  connections: number;
  rows: {
    id: string;
    name: string;
    one: Load;
    two: Load;
    /** Share of the processor time that the busier one of the two threads had; null where it is not known. */
    busier: number | null;
  }[];
}

/** Questions that are measured: short and long answers, kept and computed ones. */
const IDS = ['get', 'search', 'search-gzip', 'search-once', 'stats'];

/** Loads a service with one thread and one with two in turn. */
export async function benchWorkers(subject: Subject, scratch: string, rounds: Rounds): Promise<Workers> {
  const questions = benchQuestionsFor(subject, await drawValues(subject)).filter(({ id }) => IDS.includes(id));
  const services: Service[] = [];
  try {
    const one = await startService(subject, scratch, { workers: 1 });
    services.push(one);
    const two = await startService(subject, scratch, { workers: 2 });
    services.push(two);
    const rows: Workers['rows'] = [];
    for (const { id, name, service: paths, headers } of questions) {
      const side = ({ base, cpu }: Service): BenchServer => ({
        base,
        paths,
        cpu,
        headers: { ...OPERATOR_HEADERS, ...headers },
      });
      const loads = await alternate({ one: side(one), two: side(two) }, rounds);
      rows.push({ id, name, ...loads, busier: await busierShare(two, side(two), rounds) });
    }
    return { dataset: subject.dataset, connections: rounds.connections, rows };
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
}

/** The larger share of two threads in their processor time under load. */
async function busierShare(service: Service, side: BenchServer, rounds: Rounds): Promise<number | null> {
  const before = service.threads();
  await measureCost(side, rounds.connections, rounds.seconds);
  const after = service.threads();
  if (before === null || after === null) return null;
  const spent = [...after].map(([id, ms]) => ms - (before.get(id) ?? 0)).sort((a, b) => b - a);
  // Other threads, such as the one that writes the ledger, are idle.
  const [most = 0, other = 0] = spent;
  return most / (most + other);
}
