// Every request to a running service about one dataset, from the table of operations, the documents and the
// files on disk.
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ERRORS, type ErrorCode } from '../../api/contract/errors.ts';
import type { Format } from '../../api/contract/operation.ts';
import { DOCUMENTS } from '../../api/discovery/index.ts';
import { callable } from '../../api/render/tools.ts';
import type { Pack } from '../../packs/define/model.ts';
import { ADMIN } from './app.ts';
import { everyCall, type OperationCall } from './every-call.ts';
import { connectMcp } from './mcp-clients.ts';
import type { Api } from './money-processes.ts';

/** A running process, as probes call it. */
export interface Process {
  api: Api;
  mcp: Awaited<ReturnType<typeof connectMcp>>;
}

export interface Probe {
  name: string;
  /** The operation; null for documents and files. */
  operation: string | null;
  /** The request contains the record's name, which the answer may repeat. */
  addressed: boolean;
  /** A file: it may be withheld while it is written again. */
  file: boolean;
  ask(at: Process): Promise<{ status: number; text: string }>;
}

export const OPERATOR = { Authorization: `Bearer ${ADMIN}` };

export async function processAt(api: Api): Promise<Process> {
  return { api, mcp: await connectMcp('2026-07-28', `${api.base}/mcp?max_tokens=200000`, OPERATOR) };
}

const get = async ({ api }: Process, path: string, headers: Record<string, string> = {}) => {
  const { status, body } = await api.ask(path, { ...OPERATOR, ...headers });
  return { status, text: body };
};

/** A request of an operation in one format. */
function formatted(path: string, format: Format): { path: string; headers: Record<string, string> } {
  const [place = '', query] = path.split('?');
  const and = query === undefined ? '' : `?${query}`;
  if (format === 'markdown') return { path: `${place}${place.endsWith('.md') ? '' : '.md'}${and}`, headers: {} };
  if (format === 'html') return { path, headers: { Accept: 'text/html' } };
  if (format === 'json' || format === 'text') return { path, headers: {} };
  return { path: `${path}${query === undefined ? '?' : '&'}format=${format}`, headers: {} };
}

/** The parameters of an address as arguments for agents. */
function argumentsOf({ path, operation, dataset }: OperationCall): Record<string, unknown> {
  const url = new URL(path, 'http://localhost');
  const given = [...url.searchParams].map(([name, value]) => {
    const number = Number(value);
    return [name, value === 'true' ? true : value !== '' && !Number.isNaN(number) ? number : value];
  });
  const at = operation.rest.path.split('/').indexOf(':entity_id');
  const entity = at < 0 ? {} : { entity_id: url.pathname.split('/')[at] };
  return { ...Object.fromEntries(given), ...entity, dataset };
}

/** A request about a dataset that changes nothing. */
const isRead = ({ dataset, operation }: OperationCall) => dataset !== null && operation.rest.method === 'GET';

/** Every reading request of every operation about a dataset, by every channel and in every format. */
function operationProbes(pack: Pack, pairs: readonly string[][], target: string): Probe[] {
  const account = { id: '', key: '', token: '' };
  const all = pairs.flatMap((pair) => everyCall([pack], { [pack.id]: pair }, account));
  const asked = [...new Map(all.filter(isRead).map((each) => [each.path, each])).values()];
  const tools = new Set(callable(asked.map(({ operation }) => operation)).map(({ name }) => name));
  return asked.flatMap((each) => {
    const { operation, path } = each;
    const known = {
      operation: operation.name,
      addressed: path.includes(target),
      file: operation.name === 'dataset_export',
    };
    const forms: Format[] = [...operation.formats, ...(operation.rest.html ? ['html' as const] : [])];
    const rest = forms.map((format): Probe => {
      const to = formatted(path, format);
      return { ...known, name: `REST ${format} ${path}`, ask: (at) => get(at, to.path, to.headers) };
    });
    if (!tools.has(operation.name)) return rest;
    const given = argumentsOf(each);
    const mcp: Probe = {
      ...known,
      name: `MCP ${operation.name} ${path}`,
      async ask(at) {
        const answer = await at.mcp.call(operation.name, given);
        const text = JSON.stringify(answer);
        return {
          status: answer.isError ? (ERRORS[answer.structuredContent['error'] as ErrorCode]?.status ?? 500) : 200,
          text,
        };
      },
    };
    const a2a: Probe = {
      ...known,
      name: `A2A ${operation.name} ${path}`,
      async ask({ api }) {
        const body = JSON.stringify({ message: { parts: [{ data: { skill: operation.name, ...given } }] } });
        const { status, body: text } = await api.ask('/a2a/v1/message:send', OPERATOR, 'POST', body);
        return { status, text };
      },
    };
    return [...rest, mcp, a2a];
  });
}

/** Requests that are no operation of a dataset: the register's own, documents, pages, and every file. */
function otherProbes(pack: Pack, target: string, dist: string): Probe[] {
  const plain = { operation: null, addressed: false };
  const documents = DOCUMENTS.map(({ path }) => path).filter((path) => !path.includes(':'));
  const paths = ['/', '/v1/datasets', '/v1/datasets.md', `/datasets/${pack.id}`, `/datasets/${pack.id}/`, ...documents];
  const page = `/datasets/${pack.id}/${target}`;
  const files = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `/${relative(dist, join(entry.parentPath, entry.name))}`)
    .filter((path) => !/\/\.|\.(gz|br|woff2|png|ico)$/.test(path));
  return [
    ...paths.map(
      (path): Probe => ({
        ...plain,
        name: `page ${path}`,
        file: true,
        ask: (at) => get(at, path, { Accept: 'text/html, */*;q=0.5' }),
      }),
    ),
    ...[
      page,
      `${page}/`,
      `${page}.html`,
      `${page}.md`,
      `${page}/index.html`,
      page.replace('-', '%2D'),
      `/${page}.md`,
    ].map(
      (path): Probe => ({
        ...plain,
        addressed: true,
        name: `record page ${path}`,
        file: false,
        ask: (at) => get(at, path, { Accept: 'text/html' }),
      }),
    ),
    ...files.map(
      (path): Probe => ({
        ...plain,
        addressed: path.includes(target),
        name: `file ${path}`,
        file: true,
        ask: (at) => get(at, encodeURI(path)),
      }),
    ),
    ...[`service://${pack.id}/llms.txt`, `service://${pack.id}/entity/${target}`].map(
      (uri): Probe => ({
        ...plain,
        addressed: uri.includes(target),
        name: `MCP resource ${uri}`,
        file: false,
        async ask(at) {
          return at.mcp.read(uri).then(
            (parts) => ({ status: 200, text: JSON.stringify(parts) }),
            (error: Error) => ({ status: 404, text: error.message }),
          );
        },
      }),
    ),
    // Parquet is compressed and cannot be searched; its files are made, withheld and linked with the others.
    ...['csv', 'jsonl'].map(
      (format): Probe => ({
        ...plain,
        name: `new export ${format}`,
        file: true,
        async ask(at) {
          const link = await get(at, `/v1/${pack.id}/export?format=${format}`);
          if (link.status !== 200) return link;
          const { url } = JSON.parse(link.text) as { url: string };
          return get(at, url.slice(at.api.base.length));
        },
      }),
    ),
  ];
}

/** Every request about a dataset with a record `target` and `others`; `dist` is DIST_DIR. */
export function everyProbe(pack: Pack, target: string, others: readonly string[], dist: string): Probe[] {
  const [other = '', third = ''] = others;
  const pairs = [
    [target, other],
    [other, target],
    [other, third],
  ];
  return [...operationProbes(pack, pairs, target), ...otherProbes(pack, target, dist)];
}
