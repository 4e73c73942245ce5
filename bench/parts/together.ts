// Gets while other work runs: latency with and without it, and the delay of the event loop.
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../data/model/atomic.ts';
import { paths as layout, type Manifest, RELEASE_FILES } from '../../data/model/layout.ts';
import { drawValues } from '../draw.ts';
import { type Load, measureLoad } from '../load.ts';
import { median } from '../measure.ts';
import { type BenchQuestion, benchQuestionsFor } from '../questions.ts';
import { OPERATOR_HEADERS, type Service, startService } from '../service.ts';
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
  /** Gets during each kind of other work; absent in older results. */
  during?: { name: string; get: Load }[];
}

const CONNECTIONS = 16;

type Send = (id: string, connections: number, lasting?: number) => Promise<Load>;

export async function benchTogether(
  subject: Subject,
  scratch: string,
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<Together> {
  const questions = benchQuestionsFor(subject, await drawValues(subject));
  const service = await startService(subject, scratch);
  const send: Send = (id, connections, lasting = seconds) =>
    load(service, pathsOf(questions, id), connections, lasting);
  const found = { quiet: [] as Load[], busy: [] as Load[], statistics: [] as Load[] };
  try {
    await send('get', CONNECTIONS, 2);
    await send('stats', 4, 1);
    await service.vitals();
    await send('get', CONNECTIONS, 2 * seconds);
    const { delay: quiet } = await service.vitals();
    await Promise.all([
      send('get', CONNECTIONS, 2 * seconds),
      send('stats', 4, 2 * seconds),
      send('series', 2, 2 * seconds),
    ]);
    const { delay: busy } = await service.vitals();
    for (let round = 0; round < rounds; round += 1) {
      found.quiet.push(await send('get', CONNECTIONS));
      const [get, statistics] = await Promise.all([send('get', CONNECTIONS), send('stats', 4)]);
      found.busy.push(get);
      found.statistics.push(statistics);
    }
    return {
      connections: CONNECTIONS,
      quiet: median(found.quiet),
      busy: median(found.busy),
      statistics: median(found.statistics),
      delay: { quiet, busy },
      during: await getsDuring(subject, service, send, seconds),
    };
  } finally {
    await service.stop();
  }
}

const pathsOf = (questions: readonly BenchQuestion[], id: string) =>
  questions.find((question) => question.id === id)?.service ?? [];

const load = ({ base }: Service, paths: readonly string[], connections: number, seconds: number) =>
  measureLoad({ base, paths, headers: OPERATOR_HEADERS, connections, seconds });

/** Gets while long answers are sent, and while the service switches to another release. */
async function getsDuring(subject: Subject, service: Service, send: Send, seconds: number) {
  const v1 = `/v1/${subject.dataset}`;
  const link = await fetch(`${service.base}${v1}/export?format=parquet`, { headers: OPERATOR_HEADERS });
  const { url } = (await link.json()) as { url: string };
  const work: Record<string, () => Promise<unknown>> = {
    'llms-full.txt, one client': () => load(service, [`${v1}/llms-full.txt`], 1, seconds),
    'downloads of the complete Parquet file, two clients': () =>
      load(service, [new URL(url).pathname + new URL(url).search], 2, seconds),
    'searches of 1,000 records as CSV, two clients': () =>
      load(service, [`${v1}/entities?format=csv&limit=1000&min_quality=0.0{n}`], 2, seconds),
  };
  const during: { name: string; get: Load }[] = [];
  for (const [name, run] of Object.entries(work)) {
    const [get] = await Promise.all([send('get', CONNECTIONS, seconds), run()]);
    during.push({ name, get });
  }
  const [get, tag] = await Promise.all([send('get', CONNECTIONS, SWITCH), switchRelease(subject, service.dataDir)]);
  const { release } = (await (await fetch(`${service.base}/healthz`)).json()) as { release: Record<string, string> };
  if (release[subject.dataset] !== tag) throw new Error(`the service did not switch to ${tag} within ${SWITCH} s`);
  during.push({ name: `a switch to another release within ${SWITCH} s`, get });
  return during;
}

/** Seconds in which a service finds and opens a new release. */
const SWITCH = 10;

/** Makes the same release current under another name, which the service then opens. Returns the name. */
async function switchRelease({ dataset, folder, manifest }: Subject, dataDir: string): Promise<string> {
  const { release } = manifest;
  const name = `${release.slice(0, -1)}${release.endsWith('0') ? '1' : '0'}`;
  // The folder of the dataset is a link to the releases that all parts share.
  const shared = layout.releases(dataDir, dataset);
  rmSync(shared);
  for (const each of [release, name]) {
    const own = layout.release(dataDir, dataset, each);
    await mkdir(own, { recursive: true });
    for (const file of readdirSync(folder))
      if (file !== RELEASE_FILES.manifest) symlinkSync(join(folder, file), join(own, file));
    const stored = JSON.parse(readFileSync(join(folder, RELEASE_FILES.manifest), 'utf8')) as Manifest;
    writeFileSync(join(own, RELEASE_FILES.manifest), JSON.stringify({ ...stored, release: each }));
  }
  await replaceFile(layout.current(dataDir, dataset), `${name}\n`);
  return name;
}
