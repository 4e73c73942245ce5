// Ten minutes of mixed load: heap and resident memory must not grow, and the questions must not become slower.
import { drawValues } from '../draw.ts';
import type { Load } from '../load.ts';
import type { Rounds } from '../measure.ts';
import { CONNECTIONS, mixedLoad } from '../mixed.ts';
import { benchQuestionsFor } from '../questions.ts';
import type { Service } from '../service.ts';
import type { Subject } from '../subject.ts';
import { benchQuestions, type Questions } from './questions.ts';

export interface Soak {
  minutes: number;
  connections: number;
  /** WORKERS; absent in older results: 1. */
  workers?: number;
  loads: Load[];
  /**
   * Every half minute: MB of heap and resident memory, event-loop delay p99 in milliseconds. With several
   * threads heap and delay are those of the main thread, which answers no calls.
   */
  samples: { second: number; heap: number; rss: number; delay: number }[];
  /** The questions after it, in the same process; absent in older results. */
  after?: Questions;
}

/** Seconds of one piece of the load. */
const PIECE = 30;

export interface SoakOptions extends Omit<Rounds, 'connections'> {
  minutes: number;
  workers: number;
  only: readonly string[] | null;
}

export async function benchSoak(
  subject: Subject,
  scratch: string,
  { minutes, workers, only, ...rounds }: SoakOptions,
): Promise<Soak> {
  const questions = benchQuestionsFor(subject, await drawValues(subject));
  const soak: Soak = { minutes, workers, connections: CONNECTIONS, loads: [], samples: [] };
  const before = async (service: Service) => {
    const load = await mixedLoad(subject, service, questions);
    await service.vitals();
    for (let second = PIECE; second <= minutes * 60; second += PIECE) {
      soak.loads.push(await load(PIECE));
      const { heap, rss, delay } = await service.vitals();
      soak.samples.push({ second, heap, rss, delay: delay.p99 });
    }
  };
  const after = await benchQuestions(subject, scratch, { levels: [CONNECTIONS], ...rounds, only, before });
  return { ...soak, after };
}
