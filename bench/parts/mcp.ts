// The cost of a call over MCP compared with REST, and time and size of the list of tools.
import assert from 'node:assert/strict';
import { drawValues } from '../draw.ts';
import { type Load, measureLoad } from '../load.ts';
import { alternate, type BenchServer, type Rounds, requestOnce } from '../measure.ts';
import { OPERATOR_HEADERS, type Service, startService } from '../service.ts';
import type { Subject } from '../subject.ts';

export interface Mcp {
  dataset: string;
  connections: number;
  rows: { name: string; bytes: number; rest: Cost; mcp: Cost }[];
  /** `tools/list` over all datasets: bytes of the answer, and its latency for one client. */
  list: { datasets: number; tools: number; bytes: number; load: Load };
}

/**
 * A load with the processor milliseconds of the service for each answer, which exclude other load on the
 * machine.
 */
export interface Cost extends Load {
  cpu: number;
}

type Json = Record<string, unknown>;

/** One question in both protocols. */
interface Pair {
  name: string;
  paths: string[];
  tool: string;
  given: Json[];
}

const REVISION = '2025-11-25';

/** A typical request of MCP clients: no session, no handshake. */
const request = (method: string, params: Json) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

export async function benchMcp(subject: Subject, scratch: string, rounds: Rounds): Promise<Mcp> {
  const service = await startService(subject, scratch);
  const over = (bodies: string[], address = '/mcp'): BenchServer => ({
    base: service.base,
    paths: [address],
    bodies,
    headers: {
      ...OPERATOR_HEADERS,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
    },
  });
  try {
    const rows: Mcp['rows'] = [];
    for (const { name, paths, tool, given } of pairs(subject, await drawValues(subject))) {
      const rest: BenchServer = { base: service.base, paths, headers: OPERATOR_HEADERS };
      // A page of complete records exceeds the default token limit, and both answers must be equal.
      const address = tool === 'entity_search' ? '/mcp?max_tokens=200000' : '/mcp';
      const mcp = over(
        given.map((json) => request('tools/call', { name: tool, arguments: json })),
        address,
      );
      const bytes = agree(await requestOnce(rest), await requestOnce(mcp), name);
      rows.push({ name, bytes, ...(await costs(service, { rest, mcp }, rounds)) });
    }
    const list = over([request('tools/list', {})]);
    const answer = await requestOnce(list);
    const { tools } = (JSON.parse(answer.toString()) as { result: { tools: unknown[] } }).result;
    const health = (await (await fetch(`${service.base}/healthz`)).json()) as { release: Json };
    const { asked } = await alternate({ asked: list }, { ...rounds, connections: 1 });
    const datasets = Object.keys(health.release).length;
    return {
      dataset: subject.dataset,
      connections: rounds.connections,
      rows,
      list: { datasets, tools: tools.length, bytes: answer.length, load: asked },
    };
  } finally {
    await service.stop();
  }
}

/** Seconds of load before the measurement. */
const WARM = 3;

/** Loads both in turn; returns the round with the median cost of each. */
async function costs<K extends string>(
  service: Service,
  sides: Record<K, BenchServer>,
  { connections, seconds, rounds }: Rounds,
): Promise<Record<K, Cost>> {
  const names = Object.keys(sides) as K[];
  const all = Object.fromEntries(names.map((name) => [name, [] as Cost[]])) as Record<K, Cost[]>;
  // The final compilation happens after some thousands of calls.
  for (const name of names) await measureLoad({ ...sides[name], connections, seconds: WARM });
  for (let round = 0; round < rounds; round += 1)
    for (const name of names) {
      await service.vitals();
      const each = await measureLoad({ ...sides[name], connections, seconds });
      const { cpu } = await service.vitals();
      all[name].push({ ...each, cpu: cpu / (each.rps * seconds) });
    }
  const middle = (list: Cost[]) => list.sort((a, b) => a.cpu - b.cpu)[Math.floor(list.length / 2)] as Cost;
  return Object.fromEntries(names.map((name) => [name, middle(all[name])])) as Record<K, Cost>;
}

function pairs({ dataset, shape }: Subject, { ids, groups }: Awaited<ReturnType<typeof drawValues>>): Pair[] {
  const { group, area, number, least } = shape;
  const v1 = `/v1/${dataset}`;
  const uri = encodeURIComponent;
  const search = (each: string) => ({ dataset, filters: { [group]: [each], [`min_${number}`]: least } });
  return [
    {
      name: 'get, full record',
      paths: ids.map((id) => `${v1}/entities/${id}`),
      tool: 'entity_get',
      given: ids.map((entity_id) => ({ dataset, entity_id, format: 'json' })),
    },
    {
      name: 'get, Markdown',
      paths: ids.map((id) => `${v1}/entities/${id}.md`),
      tool: 'entity_get',
      given: ids.map((entity_id) => ({ dataset, entity_id })),
    },
    {
      name: 'search, 20 full records',
      paths: groups.map((each) => `${v1}/entities?${group}=${uri(each)}&min_${number}=${least}`),
      tool: 'entity_search',
      given: groups.map((value) => ({ ...search(value), format: 'json' })),
    },
    {
      name: 'search, 20 records, Markdown',
      paths: groups.map((value) => `${v1}/entities.md?${group}=${uri(value)}&min_${number}=${least}&fields=${area}`),
      tool: 'entity_search',
      given: groups.map((value) => ({ ...search(value), fields: [area] })),
    },
    {
      name: 'facets over a filtered set',
      paths: groups.map((each) => `${v1}/facets?by=${area}&${group}=${uri(each)}`),
      tool: 'dataset_facets',
      given: groups.map((each) => ({ dataset, by: area, filters: { [group]: [each] } })),
    },
  ];
}

/** Throws unless both answers are equal. Returns the length of the REST answer. */
function agree(rest: Buffer, mcp: Buffer, name: string): number {
  const { result } = JSON.parse(mcp.toString()) as {
    result: { isError?: boolean; structuredContent: Json; content: { text: string }[] };
  };
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result).slice(0, 300)}`);
  const text = rest.toString();
  if (!text.startsWith('{')) assert.equal(withoutNext(result.content[0]!.text), withoutNext(text), name);
  else assert.deepEqual(steady(result.structuredContent), steady(JSON.parse(text)), name);
  return rest.length;
}

/** A text without its last lines: the address of the next page over REST, its arguments and the charge over MCP. */
const withoutNext = (text: string) => text.replace(/(?:\nNext page: .*\n)?(?:\nCharged .*\n)?$/, '');

/** An answer without the parts that differ between two calls: the request id, and ages. */
function steady(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer, (name, value) => (/^(request_id|age_hours|freshness)$/.test(name) ? null : value)),
  );
}
