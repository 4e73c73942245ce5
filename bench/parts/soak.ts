// Ten minutes of mixed load: heap and resident memory must not grow.
import { drawValues } from '../draw.ts';
import { type Load, measureLoad } from '../load.ts';
import { benchQuestionsFor } from '../questions.ts';
import { OPERATOR_HEADERS, startService } from '../service.ts';
import type { Subject } from '../subject.ts';

export interface Soak {
  minutes: number;
  connections: number;
  loads: Load[];
  /** Every half minute: MB of heap and resident memory, event-loop delay p99 in milliseconds. */
  samples: { second: number; heap: number; rss: number; delay: number }[];
}

const CONNECTIONS = 16;
/** Seconds of one piece of the load. */
const PIECE = 30;
/** Frequency of each question in a round of the mix. */
const MIX: Record<string, number> = {
  get: 40,
  search: 10,
  text: 10,
  radius: 5,
  batch: 2,
  facets: 5,
  similar: 3,
  'stats-again': 2,
  stats: 1,
  series: 1,
};

export async function benchSoak(subject: Subject, scratch: string, minutes: number): Promise<Soak> {
  const questions = benchQuestionsFor(subject, await drawValues(subject));
  const paths = Array.from({ length: 20 }).flatMap((_, round) =>
    questions.flatMap(({ id, service }) =>
      Array.from({ length: MIX[id] ?? 0 }, (_, i) => service[(round * (MIX[id] ?? 0) + i) % service.length] ?? '/'),
    ),
  );
  const service = await startService(subject, scratch);
  const found: Soak = { minutes, connections: CONNECTIONS, loads: [], samples: [] };
  try {
    await service.vitals();
    for (let second = PIECE; second <= minutes * 60; second += PIECE) {
      // An order that mixes slow and fast questions, the same in every piece.
      const mixed = paths.map((path, i) => ({ path, at: (i * 7919) % paths.length })).sort((a, b) => a.at - b.at);
      const asked = mixed.map(({ path }) => path);
      found.loads.push(
        await measureLoad({
          base: service.base,
          paths: asked,
          headers: OPERATOR_HEADERS,
          connections: CONNECTIONS,
          seconds: PIECE,
        }),
      );
      const { heap, rss, delay } = await service.vitals();
      found.samples.push({ second, heap, rss, delay: delay.p99 });
    }
  } finally {
    await service.stop();
  }
  return found;
}
