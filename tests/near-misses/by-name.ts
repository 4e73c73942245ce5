// Near misses of calls by name: arguments of MCP tools and A2A skills in other shapes and with other names.
import { type Base, bases, type CallQuery, type MissRule, miss, type NearMiss, numeric } from './model.ts';
import type { DatasetInfo } from './world.ts';

type Draft = [operation: string, given: Record<string, unknown>, meant: CallQuery, names: string[]];

export const byName: MissRule = (dataset) => {
  const drafts = draftsOf(dataset);
  return (['mcp', 'a2a'] as const).flatMap((channel) =>
    drafts.map(([operation, given, meant, names]): NearMiss => {
      const base = { ...(bases(dataset)[operation] as Base), required: [] };
      const { dataset: other, ...rest } = given;
      const all = { ...(other === undefined ? { dataset: dataset.id } : { dataset: other }), ...rest };
      const near = miss('arguments of tools and skills', dataset, base, [['', ''], null], names);
      return { ...near, meant, given: { channel, arguments: all } };
    }),
  );
};

function draftsOf(dataset: DatasetInfo): Draft[] {
  const { id, slugs, values } = dataset;
  const [one = '', two = ''] = slugs;
  const number = numeric(dataset).find(({ filterable }) => filterable)?.name ?? 'x';
  const closed = Object.keys(values).find((name) => (values[name]?.length ?? 0) > 1) ?? 'name';
  const value = values[closed]?.[0] ?? '';
  const [by = 'name'] = Object.keys(values);
  const typo = id.slice(0, -1);
  return [
    ['entity_search', { filters: JSON.stringify({ [closed]: value }) }, [[closed, value]], [closed]],
    ['entity_search', { filters: `${closed}=${value}` }, [[closed, value]], ['object']],
    ['entity_search', { filters: [{ [closed]: value }] }, [[closed, value]], ['object']],
    ['entity_search', { filters: { [number]: { min: 5 } } }, [[`min_${number}`, '5']], [`min_${number}`]],
    ['entity_search', { filters: { [number]: { $gte: 5 } } }, [[`min_${number}`, '5']], [`min_${number}`]],
    ['entity_search', { filters: { [number]: { lt: 5 } } }, [[`max_${number}`, '5']], [`max_${number}`]],
    ['entity_search', { [number]: { max: 5 } }, [[`max_${number}`, '5']], [`max_${number}`]],
    ['entity_search', { filters: { [closed]: { in: [value] } } }, [[closed, value]], [closed]],
    ['entity_search', { query: value }, [['q', value]], ['q']],
    ['entity_search', { pageSize: 5 }, [['limit', '5']], ['limit']],
    ['entity_search', { orderBy: number }, [['sort', number]], ['sort']],
    ['entity_search', { fields: '["name"]' }, [['fields', 'name']], ['name']],
    ['entity_search', { sort: { field: 'name' } }, [['sort', 'name']], ['sort']],
    ['entity_search', { filters: { page: 2 } }, [['cursor', '2']], ['cursor']],
    ['entity_search', { filter: { [closed]: value } }, [[closed, value]], [`filters|${closed}`]],
    ['entity_search', { text: value }, [['q', value]], ['q']],
    ['entity_search', { search: value }, [['q', value]], ['q']],
    ['entity_search', { keywords: value }, [['q', value]], ['q']],
    ['entity_search', { limit: 'ten' }, [['limit', '10']], ['limit']],
    ['entity_search', { max_results: 5 }, [['limit', '5']], ['limit']],
    ['entity_search', { per_page: 5 }, [['limit', '5']], ['limit']],
    ['entity_search', { page: 2 }, [['cursor', '2']], ['cursor']],
    ['entity_search', { sort_by: number }, [['sort', number]], ['sort']],
    ['entity_search', { order: 'desc' }, [['sort', '-quality']], ['sort']],
    ['entity_search', { sort: `${number} desc` }, [['sort', `-${number}`]], [`-${number}`]],
    ['entity_search', { columns: ['name'] }, [['fields', 'name']], ['fields']],
    ['entity_search', { select: ['name'] }, [['fields', 'name']], ['fields']],
    ['entity_search', { fields: ['nam'] }, [['fields', 'name']], ['name']],
    ['entity_search', { filters: { [`${number}_gte`]: 5 } }, [[`min_${number}`, '5']], [`min_${number}`]],
    ['entity_search', { filters: { [`${number}__lt`]: 5 } }, [[`max_${number}`, '5']], [`max_${number}`]],
    ['entity_search', { filters: { [`${closed}_in`]: [value] } }, [[closed, value]], [closed]],
    ['entity_search', { filters: { [`${closed}_not`]: value } }, [[`not_${closed}`, value]], [`not_${closed}`]],
    ['entity_search', { format: 'table' }, [], ['md']],
    ['entity_get', { record_id: one }, [], ['entity_id']],
    ['entity_get', { record: one }, [], ['entity_id']],
    ['entity_batch', { entity_ids: [one, two] }, [['ids', `${one},${two}`]], ['ids']],
    ['entity_compare', { slugs: [one, two] }, [['ids', `${one},${two}`]], ['ids']],
    ['entity_compare', { entity_ids: [one, two] }, [['ids', `${one},${two}`]], ['ids']],
    ['dataset_facets', { attribute: by }, [['by', by]], ['by']],
    ['dataset_facets', { group_by: by }, [['by', by]], ['by']],
    ['dataset_stats', { field: number }, [['attribute', number]], ['attribute']],
    ['dataset_stats', { metric: number }, [['attribute', number]], ['attribute']],
    ['dataset_timeseries', { attribute: number, period: 'week' }, [['attribute', number]], ['step|days']],
    ['entity_search', { dataset: typo }, [], [id]],
    ['entity_get', { id: one }, [], ['entity_id']],
    ['entity_get', { entityId: one }, [], ['entity_id']],
    ['entity_get', { slug: one }, [], ['entity_id']],
    ['entity_batch', { ids: JSON.stringify([one, two]) }, [['ids', `${one},${two}`]], [one]],
    ['entity_batch', { slugs: [one, two] }, [['ids', `${one},${two}`]], ['ids']],
    ['dataset_facets', { field: by }, [['by', by]], ['by']],
    [
      'dataset_facets',
      { by, filters: JSON.stringify({ [closed]: value }) },
      [
        ['by', by],
        [closed, value],
      ],
      ['by'],
    ],
    [
      'dataset_timeseries',
      { attribute: number, interval: 'week' },
      [
        ['attribute', number],
        ['step', 'week'],
      ],
      ['step'],
    ],
    ['dataset_changelog', { since: '2026-09-01' }, [['days', '60']], ['days']],
    ['dataset_schema', { fields: ['name'] }, [], ['no parameters']],
  ];
}
