// What a process says of itself to its operators, besides its calls.
import type { Register } from '../data/register.ts';
import type { Standing } from './ops/metrics.ts';

/** The releases served, what the engines do, and whether Redis answers (`redisUp`: null where none is set). */
export function standing(register: Register, redisUp: () => boolean | null): Standing {
  const open = [...register.packs.keys()].flatMap((dataset) => register.current(dataset) ?? []);
  return {
    queue: register.load(),
    datasets: open.map(({ pack, manifest: { release, records, last_collection } }) => ({
      dataset: pack.id,
      release,
      records,
      collected: new Date(last_collection),
    })),
    redis: redisUp(),
  };
}
