// Calls of every operation that agents may use, on the fictional packs: successful ones and refused ones.

import type { Operation } from '../../api/contract/operation.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { inputSchema } from '../../api/render/json-schema.ts';
import { callable } from '../../api/render/tools.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';

/** Arguments in the form of MCP and A2A. */
export type ToolArguments = Record<string, unknown>;

export interface AgentCall {
  operation: Operation;
  about: string;
  given: ToolArguments;
}

const PACKS: Record<string, Pack> = Object.fromEntries(
  await Promise.all(['tools', 'harbours'].map(async (id) => [id, await loadPack(`tests/packs/${id}`)] as const)),
);

/** Arguments of an operation, by dataset; those of its example for operations that are not here. */
function needed(operation: Operation, dataset: string): ToolArguments {
  const [number, group, filter] =
    dataset === 'tools' ? ['price.list', 'kind', { has_maker: true }] : ['depth', 'coast', {}];
  const known: Record<string, ToolArguments> = {
    search: { query: 'record' },
    fetch: { id: 'tools/record-1' },
    // The releases of these tests have no files for analysts.
    sql_query: { sql: 'SELECT ?::INTEGER + 1 AS next', parameters: [2], max_rows: 5 },
    quote: { operation: 'entity_batch', dataset: 'tools', arguments: { ids: ['record-1', 'record-2'] } },
    dataset_facets: { by: group, filters: filter, limit: 5 },
    // Without a limit, a tool returns fewer records than REST.
    dataset_examples: { limit: 2 },
    dataset_changelog: { days: 365, limit: 3, type: 'all' },
    dataset_changes: { since: '2026-01-01T00:00:00Z', limit: 5 },
    dataset_export: { format: 'jsonl' },
    entity_search: { filters: filter, limit: 3, total: true, sort: '-updated', q: 'record' },
    entity_batch: { ids: ['record-1', 'record-2', 'nobody'], fields: [group] },
    entity_get: { entity_id: 'record-1' },
    entity_similar: { entity_id: 'record-1', limit: 2 },
    entity_history: { entity_id: 'record-1' },
    entity_prices: { entity_id: 'record-1' },
    entity_audit: { entity_id: 'record-1' },
    entity_compare: { ids: 'record-1,record-2' },
    dataset_stats: { attribute: number, group_by: [group] },
    dataset_timeseries: { attribute: number, days: 3, step: 'day' },
  };
  const pack = PACKS[dataset];
  return known[operation.name] ?? (pack && operation.docs.example?.(pack, ['record-1', 'record-2'])) ?? {};
}

/** Expressions as an object, as text and with a mistake. */
const EXPRESSIONS: readonly [about: string, filter: unknown][] = [
  [
    'an expression',
    {
      op: 'or',
      args: [
        { op: '>', args: [{ property: 'mass' }, 1] },
        { op: '=', args: [{ property: 'kind' }, 'saw'] },
      ],
    },
  ],
  ['an expression of paid values as text', "runtime > 10 OR (kind IN ('saw', 'drill') AND NOT mass < 1)"],
  ['a wrong expression', { or: [{ kind: 'saw' }, { kind: 'drill' }] }],
];

/** Every operation of the table for both datasets: a valid call, and every possible mistake. */
export function agentCalls(): AgentCall[] {
  // A sale has tests of its own (tests/process/x402/prepaid.test.ts).
  return callable(OPERATIONS.filter(({ charge }) => !charge.amount)).flatMap((operation) => {
    const { rest } = operation;
    const datasets = rest.path.includes(':ds') ? ['tools', 'harbours'] : [undefined];
    const takesFilters = Object.hasOwn((inputSchema(operation, null)['properties'] ?? {}) as object, 'filter');
    return datasets.flatMap((dataset) => {
      const given = { ...(dataset ? { dataset } : {}), ...needed(operation, dataset ?? '') };
      const ask = (about: string, other: ToolArguments) => ({
        operation,
        about: `${dataset ?? 'the register'}, ${about}`,
        given: { ...given, ...other },
      });
      return [
        ask('its own question', {}),
        ask('an unknown parameter', { nonsense: 'x' }),
        ask('a number that is none', { limit: 'many' }),
        ...(dataset === 'tools' ? [ask('an unknown dataset', { dataset: 'toolz' })] : []),
        ...(takesFilters && dataset === 'tools' ? EXPRESSIONS.map(([about, filter]) => ask(about, { filter })) : []),
        ...('entity_id' in given ? [ask('an unknown record', { entity_id: 'nobody' })] : []),
        ...('ids' in given ? [ask('too many ids', { ids: Array.from({ length: 101 }, (_, i) => `r-${i}`) })] : []),
      ];
    });
  });
}

/** The same call as a REST address. */
export function addressOf({ operation, given }: AgentCall): string {
  const { dataset, filters, ...rest } = given;
  let path = operation.rest.path.replace(':ds', String(dataset));
  const query: [string, string][] = [];
  for (const [name, value] of Object.entries({ ...rest, ...(filters as object) })) {
    const text = [value]
      .flat()
      .map((value) => (typeof value === 'object' ? JSON.stringify(value) : value))
      .map((each) => (Array.isArray(value) ? String(each).replace(/[\\,]/g, '\\$&') : String(each)))
      .join(',');
    if (path.includes(`:${name}`)) path = path.replace(`:${name}`, encodeURIComponent(text));
    else query.push([name, text]);
  }
  const sorted = query.sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.length === 0 ? path : `${path}?${new URLSearchParams(sorted)}`;
}
