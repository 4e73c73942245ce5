// The effect of statistics and time series on parallel gets: latency with and without, and the delay of the
// event loop.
import { drawValues } from '../draw.ts';
import { type Load, measureLoad } from '../load.ts';
import { median } from '../measure.ts';
import { benchQuestionsFor } from '../questions.ts';
import { OPERATOR_HEADERS, startService } from '../service.ts';
import type { Subject } from '../subject.ts';
import type { Vitals } from '../watch.ts';

export interface Together {
  connections: number;
  quiet: Load;
  /** Gets while 4 clients request statistics, each different. */
  busy: Load;
  statistics: Load;
  /** Event-loop delay of the service: with gets only; with gets, statistics and time series. */
  delay: { quiet: Vitals['delay']; busy: Vitals['delay'] };
}

const CONNECTIONS = 16;

export async function benchTogether(
  subject: Subject,
  scratch: string,
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<Together> {
  const questions = benchQuestionsFor(subject, await drawValues(subject));
  const service = await startService(subject, scratch);
  const put = (id: string, connections: number, lasting = seconds) => {
    const paths = questions.find((question) => question.id === id)?.service ?? [];
    return measureLoad({ base: service.base, paths, headers: OPERATOR_HEADERS, connections, seconds: lasting });
  };
  const found = { quiet: [] as Load[], busy: [] as Load[], statistics: [] as Load[] };
  try {
    await put('get', CONNECTIONS, 2);
    await put('stats', 4, 1);
    await service.vitals();
    await put('get', CONNECTIONS, 2 * seconds);
    const { delay: quiet } = await service.vitals();
    await Promise.all([
      put('get', CONNECTIONS, 2 * seconds),
      put('stats', 4, 2 * seconds),
      put('series', 2, 2 * seconds),
    ]);
    const { delay: busy } = await service.vitals();
    for (let round = 0; round < rounds; round += 1) {
      found.quiet.push(await put('get', CONNECTIONS));
      const [get, statistics] = await Promise.all([put('get', CONNECTIONS), put('stats', 4)]);
      found.busy.push(get);
      found.statistics.push(statistics);
    }
    return {
      connections: CONNECTIONS,
      quiet: median(found.quiet),
      busy: median(found.busy),
      statistics: median(found.statistics),
      delay: { quiet, busy },
    };
  } finally {
    await service.stop();
  }
}
