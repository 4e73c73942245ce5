// Near misses of parameters: their names in other APIs, and typing errors.
import leven from 'leven';
import { pickOne, type Random } from '../support/random-records.ts';
import { type Base, bases, isPlace, type MissRule, miss, type NearMiss } from './model.ts';
import type { DatasetInfo } from './world.ts';

/** `operation: wrong>right …`; a value follows the right name when the usual one does not fit. */
const FOREIGN: Record<string, string> = {
  entity_search:
    'page>cursor per_page>limit offset>cursor pageSize>limit page_token>cursor skip>cursor $top>limit $skip>cursor $orderby>sort $select>fields order>sort order_by>sort orderBy>sort sort_by>sort ordering>sort direction>sort select>fields columns>fields properties>fields include>fields query>q search>q text>q keyword>q keywords>q term>q since>updated_since modified_since>updated_since updated_after>updated_since changed_since>updated_since count>total include_total>total with_count>total id>ids slug>ids entity_ids>ids output>format max_results>limit page_size>limit rows>limit start>cursor after>cursor min_score>min_quality',
  dataset_facets:
    'field>by facet>by group_by>by attribute>by facet_by>by top>limit size>limit query>q search>q column>by per_page>limit',
  entity_similar: 'top>limit k>limit n>limit count>limit select>fields differBy>differ_by columns>fields top_k>limit',
  entity_compare: 'id>ids slugs>ids entity_ids>ids fields>attribute columns>attribute entities>ids',
  dataset_stats:
    'by>group_by metric>attribute field>attribute group>group_by groupBy>group_by column>attribute group-by>group_by measure>attribute dimension>group_by',
  dataset_timeseries:
    'interval>step granularity>step resolution>step window>days from>days start_date>days since>days metric>attribute groupby>group_by by>group_by bucket>step',
  entity_batch: 'id>ids slugs>ids entity_ids>ids select>fields at>as_of date>as_of columns>fields',
  entity_get: 'select>fields columns>fields include>fields date>as_of at>as_of asOf>as_of timestamp>as_of',
  entity_history: 'from>since field>attribute fields>attribute after>since start_date>since updated_since>since',
  dataset_changelog:
    'since>days page>offset skip>offset from>days field>attribute id>entity slug>entity per_page>limit cursor>offset entity_id>entity trend>direction change>direction',
  dataset_changes: 'from>since after>since updated_since>since cursor>since per_page>limit page_size>limit start>since',
  dataset_export: 'output>format fmt>format type>format',
  dataset_examples: 'group_by>group by>group',
};

/** Parameters of another operation, with the name that the message must contain. */
const ELSEWHERE: [operation: string, name: string, value: string, names: string[]][] = [
  ['entity_search', 'as_of', '2026-01-01', ['entity_get|entities/{entity_id}|batch']],
  ['entity_search', 'group_by', 'name', ['facets|stats|dataset_facets|dataset_stats']],
  ['entity_search', 'by', 'name', ['facets|dataset_facets']],
  ['entity_search', 'days', '30', ['changelog|timeseries|dataset_changelog|dataset_timeseries']],
  ['dataset_facets', 'as_of', '2026-01-01', ['entity_get|entities/{entity_id}|batch']],
  ['dataset_stats', 'as_of', '2026-01-01', ['entity_get|entities/{entity_id}|batch']],
  ['dataset_stats', 'step', 'week', ['timeseries|dataset_timeseries']],
  ['dataset_stats', 'days', '30', ['timeseries|dataset_timeseries']],
  ['entity_compare', 'as_of', '2026-01-01', ['entity_get|entities/{entity_id}|batch']],
  ['entity_prices', 'as_of', '2026-01-01', ['entity_get|entities/{entity_id}|batch']],
  ['entity_get', 'differ_by', 'name', ['similar|entity_similar']],
  ['entity_get', 'since', '2026-01-01', ['facts|entity_history|changes|dataset_changes|as_of']],
  ['entity_batch', 'limit', '5', ['ids']],
  ['dataset_status', 'limit', '5', ['no parameters']],
  ['dataset_schema', 'fields', 'name', ['no parameters']],
];

/** A valid value of the parameter. */
function usualValue(parameter: string, dataset: DatasetInfo, base: Base): string {
  const required = base.required.find(([name]) => name === parameter)?.[1];
  if (required !== undefined) return required;
  const values: Record<string, string> = {
    ...{ limit: '5', cursor: '2', sort: 'name', fields: 'name', q: 'a', updated_since: '2026-01-01', total: 'true' },
    ...{ format: base.operation === 'dataset_export' ? 'csv' : 'json', min_quality: '0.5', step: 'week', days: '30' },
    ...{ since: '2026-01-01', as_of: '2026-11-01', offset: '10', near: '47.4,8.5,100', direction: 'fall' },
  };
  const [by = 'name'] = Object.keys(dataset.values);
  const named: Record<string, string> = {
    ...{ by, group_by: by, differ_by: by, attribute: dataset.columns[0] ?? by },
    ...{ ids: dataset.slugs[0] ?? '', entity: dataset.slugs[0] ?? '', group: dataset.values[by]?.[0] ?? '' },
  };
  return values[parameter] ?? named[parameter] ?? '1';
}

export const foreignNames: MissRule = (dataset) =>
  Object.entries(FOREIGN).flatMap(([operation, pairs]) => {
    const base = bases(dataset)[operation] as Base;
    const known = new Set(dataset.filters.map(({ name }) => name));
    return pairs.split(' ').flatMap((pair): NearMiss[] => {
      const [wrong = '', right = ''] = pair.split('>');
      if (base.filters && known.has(wrong)) return [];
      const value = usualValue(right, dataset, base);
      return [
        miss(
          'foreign parameter',
          dataset,
          base,
          [
            [wrong, value],
            [right, value],
          ],
          [right],
        ),
      ];
    });
  });

export const foreignPlaces: MissRule = (dataset) =>
  !isPlace(dataset)
    ? []
    : ['lat', 'lng', 'latitude', 'lon', 'radius', 'radius_km', 'center', 'around', 'geo', 'distance'].map((wrong) =>
        miss(
          'foreign place',
          dataset,
          bases(dataset)['entity_search'] as Base,
          [
            [wrong, '47.4'],
            ['near', '47.4,8.5,100'],
          ],
          ['near'],
        ),
      );

export const foreignBoxes: MissRule = (dataset) =>
  !isPlace(dataset)
    ? []
    : ['box', 'bounds', 'bounding_box', 'extent', 'within', 'viewport'].map((wrong) =>
        miss(
          'foreign box',
          dataset,
          bases(dataset)['entity_search'] as Base,
          [
            [wrong, '5.9,45.8,10.5,47.8'],
            ['bbox', '5.9,45.8,10.5,47.8'],
          ],
          ['bbox'],
        ),
      );

export const elsewhere: MissRule = (dataset) =>
  ELSEWHERE.map(([operation, name, value, names]) =>
    miss('of another operation', dataset, bases(dataset)[operation] as Base, [[name, value], null], names),
  );

const PARAMETERS: Record<string, string> = {
  entity_search: 'sort limit cursor fields total near updated_since min_quality format',
  dataset_facets: 'limit format min_quality',
  entity_similar: 'limit differ_by fields',
  entity_compare: 'attribute',
  dataset_stats: 'attribute group_by',
  dataset_timeseries: 'attribute days step group_by',
  entity_batch: 'fields as_of',
  entity_get: 'fields as_of',
  entity_history: 'attribute since',
  dataset_changelog: 'days limit offset attribute entity type direction',
  dataset_changes: 'since limit',
};

/** A word with one or two typing errors: a letter missing, doubled or replaced, or two letters swapped. */
export function misspelt(word: string, next: Random): string {
  const slips: ((text: string, at: number) => string)[] = [
    (text, at) => text.slice(0, at) + text.slice(at + 1),
    (text, at) => text.slice(0, at) + text.charAt(at) + text.slice(at),
    (text, at) => text.slice(0, at) + pickOne(next, [...'aeiourstln']) + text.slice(at + 1),
    (text, at) => text.slice(0, at - 1) + text.charAt(at) + text.charAt(at - 1) + text.slice(at + 1),
  ];
  const slip = (text: string) => pickOne(next, slips)(text, 1 + Math.floor(next() * (text.length - 1)));
  const once = slip(word);
  return word.length > 7 && next() < 0.4 ? slip(once) : once;
}

/** Whether `word` is the only likely meaning of `typed` in `all`. */
export const onlyOne = (typed: string, word: string, all: readonly string[]): boolean =>
  typed !== word && all.every((other) => other === word || leven(typed, other) > leven(typed, word));

export const misspeltParameters: MissRule = (dataset, next) =>
  Object.entries(PARAMETERS).flatMap(([operation, list]) => {
    const base = bases(dataset)[operation] as Base;
    const filters = base.filters ? dataset.filters.map(({ name }) => name) : [];
    const names = list.split(' ').filter((name) => name !== 'near' || isPlace(dataset));
    const all = [...names, ...filters, 'q', 'ids', 'by', 'format'];
    return names.flatMap((right) => {
      const wrong = misspelt(right, next);
      if (!onlyOne(wrong, right, all) || all.includes(wrong)) return [];
      const value = usualValue(right, dataset, base);
      return [
        miss(
          'misspelt parameter',
          dataset,
          base,
          [
            [wrong, value],
            [right, value],
          ],
          [right],
        ),
      ];
    });
  });
