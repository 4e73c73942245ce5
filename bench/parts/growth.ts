// The cost of a larger dataset: the same questions over HTTP to two sizes of one generated pack, in turn.
import { drawValues } from '../draw.ts';
import type { Load } from '../load.ts';
import { alternate, type BenchServer, type Rounds } from '../measure.ts';
import { OPERATOR_HEADERS, type Service, startService } from '../service.ts';
import type { Subject } from '../subject.ts';

export interface Growth {
  /** Records of either release. */
  small: number;
  large: number;
  rows: {
    id: string;
    name: string;
    loads: { small: Load; large: Load } /** Most that the rate may fall by. */;
    goal: number;
  }[];
}

interface Asked {
  id: string;
  name: string;
  goal: number;
  paths: string[];
}

/** Questions with answers of constant size: a record, a page of an area, the counts within an area. */
async function asked(subject: Subject): Promise<Asked[]> {
  const { ids, areas } = await drawValues(subject);
  const v1 = `/v1/${subject.dataset}`;
  const within = areas.map(
    ({ group, area }) =>
      `${subject.shape.group}=${encodeURIComponent(group)}&${subject.shape.area}=${encodeURIComponent(area)}`,
  );
  return [
    { id: 'get', name: 'get by id', goal: 1.3, paths: ids.map((id) => `${v1}/entities/${id}`) },
    {
      id: 'search',
      name: 'search within an area, 20 full records',
      goal: 3,
      paths: within.map((filter) => `${v1}/entities?${filter}`),
    },
    {
      id: 'facets',
      name: 'facets within an area',
      goal: 3,
      paths: within.map((filter) => `${v1}/facets?by=feature&${filter}`),
    },
  ];
}

export async function benchGrowth(small: Subject, large: Subject, scratch: string, rounds: Rounds): Promise<Growth> {
  const services: Service[] = [];
  try {
    for (const subject of [small, large])
      services.push(await startService(subject, scratch, { datasets: [subject.dataset] }));
    const [few, many] = [await asked(small), await asked(large)];
    const rows: Growth['rows'] = [];
    for (const [i, { id, name, goal, paths }] of few.entries()) {
      const side = (n: number, asked: string[]): BenchServer => ({
        base: services[n]?.base ?? '',
        paths: asked,
        headers: OPERATOR_HEADERS,
      });
      const loads = await alternate({ small: side(0, paths), large: side(1, many[i]?.paths ?? []) }, rounds);
      rows.push({ id, name, loads, goal });
    }
    return { small: small.manifest.records, large: large.manifest.records, rows };
  } finally {
    for (const service of services) await service.stop();
  }
}
