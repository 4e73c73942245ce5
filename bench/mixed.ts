// Load over all operations and channels at once, to measure a process that has seen more than one kind of call.
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadPack } from '../packs/define/load.ts';
import { type Load, measureLoad } from './load.ts';
import type { BenchQuestion } from './questions.ts';
import { OPERATOR_HEADERS, type Service } from './service.ts';
import { type DatasetSlugs, documentCases, operationCases, protocolCases, type StallCase } from './stalls.ts';
import type { Subject } from './subject.ts';

/** Headers of every request, also for MCP and A2A. */
export const CHANNEL_HEADERS = {
  ...OPERATOR_HEADERS,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
  'a2a-version': '1.0',
};

/** Connections of the questions; the other calls have one for each kind. */
export const CONNECTIONS = 16;

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

/** The packs of a data folder, with 100 slugs of each. */
export async function datasetsOf({ dataDir }: Subject, { base }: Service): Promise<DatasetSlugs[]> {
  return Promise.all(
    readdirSync(join(dataDir, 'releases')).map(async (dataset) => {
      const response = await fetch(`${base}/v1/${dataset}/entities?limit=100`, { headers: OPERATOR_HEADERS });
      const { items } = (await response.json()) as { items: { slug: string }[] };
      return { pack: await loadPack(resolve('packs', dataset)), slugs: items.map(({ slug }) => slug) };
    }),
  );
}

/** A function that loads a service for some seconds; it returns the load of the questions and all failed calls. */
export async function mixedLoad(
  subject: Subject,
  service: Service,
  questions: readonly BenchQuestion[],
): Promise<(seconds: number) => Promise<Load>> {
  const cases = [...operationCases(await datasetsOf(subject, service)), ...documentCases()];
  const others = (await answered(service, cases)).flatMap(({ paths }) => paths);
  const posts = protocolCases(subject.dataset).filter(({ bodies }) => bodies !== undefined);
  const mixed = mixOf(questions);
  return async (seconds) => {
    const send = (paths: readonly string[], connections: number, headers: Record<string, string>, bodies?: string[]) =>
      measureLoad({ base: service.base, paths, connections, seconds, headers, bodies });
    const loads = await Promise.all([
      send(mixed, CONNECTIONS, OPERATOR_HEADERS),
      send(others, 1, OPERATOR_HEADERS),
      ...posts.map(({ paths, bodies }) => send(paths, 1, CHANNEL_HEADERS, bodies)),
    ]);
    return { ...loads[0], bad: loads.reduce((sum, { bad }) => sum + bad, 0) };
  };
}

/** The cases that this service answers with 200: some operations need more than an example. */
async function answered(service: Service, cases: readonly StallCase[]): Promise<StallCase[]> {
  const found: StallCase[] = [];
  for (const example of cases) {
    const response = await fetch(`${service.base}${example.paths[0]}`, { headers: OPERATOR_HEADERS });
    await response.arrayBuffer();
    if (response.status === 200) found.push(example);
  }
  return found;
}

/** Paths of the questions in an order that mixes slow and fast ones, always the same. */
function mixOf(questions: readonly BenchQuestion[]): string[] {
  const paths = Array.from({ length: 20 }).flatMap((_, round) =>
    questions.flatMap(({ id, service }) =>
      Array.from({ length: MIX[id] ?? 0 }, (_, i) => service[(round * (MIX[id] ?? 0) + i) % service.length] ?? '/'),
    ),
  );
  const placed = paths.map((path, i) => ({ path, at: (i * 7919) % paths.length }));
  return placed.sort((a, b) => a.at - b.at).map(({ path }) => path);
}
