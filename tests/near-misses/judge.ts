// Sends near misses and judges whether the answer contains the intended call, or is already its answer.
import type { CallQuery, NearMiss } from './model.ts';
import type { Ask } from './world.ts';

export interface MissVerdict {
  near: NearMiss;
  passed: boolean;
  status: number;
  /** The text of the answer, without the input. */
  text: string;
}

const address = (path: string, query: CallQuery) =>
  query.length === 0 ? path : `${path}?${new URLSearchParams(query)}`;

type Body = Record<string, unknown>;

async function send(ask: Ask, { path, query, operation, given }: NearMiss): Promise<{ status: number; body: Body }> {
  if (given === undefined) return ask(address(path, query));
  if (given.channel === 'mcp') {
    const params = { name: operation, arguments: { format: 'json', ...given.arguments } };
    const { body } = await ask('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const result = (body['result'] ?? {}) as Body;
    const content = (result['structuredContent'] ?? textOf(result) ?? body['error'] ?? {}) as Body;
    return { status: result['isError'] === true || body['error'] ? 400 : 200, body: content };
  }
  const data = { skill: operation, ...given.arguments };
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] };
  const { body, status } = await ask('/a2a/v1/message:send', { message });
  const parts = ((body['message'] as Body | undefined)?.['parts'] ?? []) as { data?: Body }[];
  const details = ((body['error'] as Body | undefined)?.['details'] ?? []) as { value?: Body }[];
  const problem = details.find(({ value }) => value !== undefined)?.value;
  const found = problem ?? parts.find((part) => part.data !== undefined)?.data ?? body;
  return { status: 'error' in found ? 400 : status, body: found };
}

function textOf(result: Body): Body | undefined {
  const [first] = (result['content'] ?? []) as { text?: string }[];
  try {
    return JSON.parse(first?.text ?? '') as Body;
  } catch {
    return undefined;
  }
}

/** A list of more than eight names does not count as a correction. */
const LONG_LIST = /(?:[\w.\-/]+, ){8,}[\w.\-/]+(?:, …)?/gu;

/** The text of an answer for a caller, without the sent name and value. */
function said(near: NearMiss, body: Body): string {
  const detail = Array.isArray(body['detail']) ? (body['detail'] as { msg?: string }[]).map(({ msg }) => msg) : [];
  const missing = Array.isArray(body['missing']) ? body['missing'] : [];
  const all = [body['message'], body['hint'], body['alternative_action'], ...detail, ...missing];
  let text = all.filter((part) => typeof part === 'string').join(' \n ');
  for (const [name, value] of near.query) {
    if (near.meant.some(([right, meant]) => right === name && meant === value)) continue;
    for (const sent of [`"${name}"`, `${name}=${value}`, `${name}=${value.toLowerCase()}`, `"${value}"`])
      if (!near.names.includes(sent)) text = text.replaceAll(sent, '…');
  }
  return text.replaceAll(LONG_LIST, '…');
}

const escaped = (name: string) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

const namesIt = (text: string, names: string): boolean =>
  names.split('|').some((name) => new RegExp(`(?<![\\w.-])${escaped(name)}(?![\\w-]|\\.\\w)`, 'iu').test(text));

/**
 * Whether two answers are of the same call: equal record ids, as far as both show them, and equal other
 * members.
 */
function sameAnswer(one: Body, other: Body): boolean {
  const ids = ({ items }: Body) => (Array.isArray(items) ? (items as { id?: string }[]).map(({ id }) => id) : null);
  const [a, b] = [ids(one), ids(other)];
  if (a && b) return a.length > 0 && b.length > 0 && a.every((id, i) => i >= b.length || id === b[i]);
  const values = ['values', 'rows', 'series', 'groups', 'attributes'].filter((member) => member in one);
  return values.length > 0 && values.every((member) => JSON.stringify(one[member]) === JSON.stringify(other[member]));
}

export async function judge(ask: Ask, near: NearMiss): Promise<MissVerdict> {
  const { status, body } = await send(ask, near);
  const text = said(near, body);
  if (near.names.every((names) => namesIt(text, names))) return { near, passed: true, status, text };
  if (status !== 200) return { near, passed: false, status, text };
  const meant = await ask(address(near.path, near.meant));
  return { near, passed: meant.status === 200 && sameAnswer(meant.body, body), status, text };
}

/** Passed near misses by rule, and the failures. */
export function report(verdicts: MissVerdict[]): string {
  const rules = new Map<string, MissVerdict[]>();
  for (const verdict of verdicts) rules.set(verdict.near.rule, [...(rules.get(verdict.near.rule) ?? []), verdict]);
  const passed = (all: MissVerdict[]) => all.filter((each) => each.passed).length;
  const lines = [...rules].map(
    ([rule, all]) => `${String(passed(all)).padStart(4)} of ${String(all.length).padEnd(4)} ${rule}`,
  );
  const share = (passed(verdicts) / verdicts.length) * 100;
  return [
    `${passed(verdicts)} of ${verdicts.length} (${share.toFixed(1)} %) name the call that was meant`,
    ...lines,
  ].join('\n');
}

export function failure({ near, status, text }: MissVerdict): string {
  const call = near.given
    ? `${near.given.channel} ${near.operation} ${JSON.stringify(near.given.arguments)}`
    : decodeURIComponent(address(near.path, near.query).replaceAll('+', ' '));
  return `${status} ${call}\n    want ${near.names.join(' and ')}: ${text.replaceAll('\n', ' ').trim()}`;
}
