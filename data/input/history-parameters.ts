// Parameters of records and of their past, with the split of 400 and 422 of contract section 4.
import { z } from 'zod';
import { DIRECTIONS, type Direction } from '../plan/plan.ts';
import { single } from './filters.ts';
import { type Parameter, parameters, type Selection, selectingParameters } from './parameters.ts';
import { BOUNDS, parseNumberBetween, parseOneOf, parseTime } from './parse-values.ts';
import {
  AS_OF,
  attributeParameter,
  attributesParameter,
  booleanParameter,
  choice,
  ENTITY_ID,
  FIELDS,
  idsParameter,
  integerParameter,
  invalid,
  LIST_FIELDS,
  optional,
  optionalText,
  optionalTime,
  representation,
  TIME_SCHEMA,
} from './rows.ts';
import { COUNTABLE, SELECTION } from './selection.ts';

/** Documented bounds of questions about the past. */
export const HISTORY_BOUNDS = {
  /** Facts of one record in one answer. */
  facts: 5_000,
  /** Days that the changelog looks back, and changes on a page of it. */
  days: 365,
  changelog: 500,
  /** Changes of the feed in one answer. */
  changes: 10_000,
} as const;

export const EXPORT_FORMATS = ['csv', 'jsonl', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Input of one record. */
export interface GetInput {
  /** Id, slug or key, as in the path. */
  entity_id: string;
  /** Attributes to keep, in the pack's order; null: all. */
  fields: string[] | null;
  /** Attributes that `fields` names. */
  names: string[];
  /** The moment to answer for, in milliseconds since 1970; null: now. */
  as_of: number | null;
}

/** Input of several records: ids, slugs or keys in place of one. */
export interface BatchInput extends Omit<GetInput, 'entity_id'> {
  ids: string[];
  /** None: unlike filters, `fields` do not select records. */
  conditions: string[];
}

export interface FactsInput {
  attribute: string | null;
  /** Milliseconds since 1970. */
  since: number | null;
}

/** `names` contains also `attribute` and `group_by`. */
export interface ChangelogInput extends Selection {
  /** Days before now, where `from` and `to` are null. */
  days: number;
  /** Milliseconds since 1970: the first moment, and the end, which is excluded; null: no bound. */
  from: number | null;
  to: number | null;
  /** Attribute whose values today group the changes; null: a page of changes. */
  group_by: string | null;
  limit: number;
  offset: number;
  /** Only changes of these attributes; null: of all. */
  attributes: string[] | null;
  /** Id, slug or key, as the client wrote it. */
  entity: string | null;
  type: ChangeType;
  direction: Direction | null;
  min_change_percent: number | null;
  by_day: boolean;
}

type ChangeType = 'all' | 'changed' | 'added';

export interface ChangesInput {
  /** Microseconds since 1970; changes recorded later are answered. */
  since: number;
  limit: number;
  /** Seconds to wait for the first change; 0: not at all. */
  wait: number;
}

const FORMAT = representation('json', 'md');

/** Parameters of `GET /v1/{ds}/entities/{entity_id}`. */
export const getParameters = parameters(
  { entity_id: ENTITY_ID, fields: FIELDS, as_of: AS_OF, format: FORMAT },
  ({ entity_id, fields, as_of }): GetInput => ({
    entity_id,
    fields: fields?.fields ?? null,
    names: fields?.names ?? [],
    as_of,
  }),
);

/** Parameters of `GET /v1/{ds}/entities/{entity_id}/prices`. */
export const pricesParameters = parameters(
  { entity_id: ENTITY_ID, as_of: AS_OF, format: FORMAT },
  ({ entity_id, as_of }, { pack }) => ({ entity_id, as_of, conditions: pack.price_attributes }),
);

/** Parameters of `GET /v1/{ds}/entities/batch`. */
export const batchParameters = parameters(
  {
    ids: idsParameter(`Ids, slugs or keys, at most ${BOUNDS.ids}`, BOUNDS.ids),
    fields: LIST_FIELDS,
    as_of: AS_OF,
    format: FORMAT,
  },
  ({ ids, fields, as_of }): BatchInput => ({
    ids,
    fields: fields?.fields ?? null,
    names: fields?.names ?? [],
    conditions: [],
    as_of,
  }),
);

/** Parameters of `GET /v1/{ds}/entities/{entity_id}/facts`. */
export const factsParameters = parameters(
  {
    entity_id: ENTITY_ID,
    attribute: optional(attributeParameter('Only facts of this attribute')),
    since: optionalTime('Only facts first observed then or later'),
    format: FORMAT,
  },
  ({ entity_id, attribute, since }): FactsInput & { entity_id: string; names: string[] } => ({
    ...{ entity_id, attribute, since },
    names: attribute === null ? [] : [attribute],
  }),
);

const TYPE = choice(
  'added: a first value; changed: another, or none any more',
  ['all', 'changed', 'added'] satisfies ChangeType[],
  'all',
);

/** Days of the changelog without `days`, `from` and `to`. */
const USUAL_DAYS = 30;

/** `days`; null without it, since it must not be combined with `from` and `to`. */
const DAYS: Parameter<number | null> = {
  ...integerParameter('Days before today', { min: 1, max: HISTORY_BOUNDS.days, fallback: USUAL_DAYS }),
  fallback: null,
};

/** `direction`: of values that are shown. */
const DIRECTION = optional<Direction>({
  schema: () => z.enum(DIRECTIONS).describe('Only public values'),
  parse: (values, { name }) => parseOneOf(name, single(name, values), DIRECTIONS),
});

/** `min_change_percent`: of numbers with both values shown. */
const MIN_CHANGE_PERCENT = optional<number>({
  schema: () => z.number().min(0).describe('Smallest change'),
  parse: (values, { name }) => parseNumberBetween(name, single(name, values), 0, Number.MAX_SAFE_INTEGER),
});

/**
 * Parameters of `GET /v1/{ds}/changelog` (specification section 4, "Dataset-level endpoints"): changes of the
 * records that the filters select now.
 */
export const changelogParameters = selectingParameters(
  {
    days: DAYS,
    from: optionalTime('First moment, in place of days'),
    to: optionalTime('End, excluded'),
    group_by: optional(attributeParameter('Counts changes by this attribute', COUNTABLE)),
    limit: integerParameter('Changes, or groups', { min: 1, max: HISTORY_BOUNDS.changelog, fallback: 100 }),
    offset: integerParameter('How many to skip', { min: 0, fallback: 0 }),
    attribute: optional(attributesParameter('Only these attributes')),
    entity: optionalText('Only this record: id, slug or key'),
    type: TYPE,
    direction: DIRECTION,
    min_change_percent: MIN_CHANGE_PERCENT,
    by_day: booleanParameter('Adds counts by day'),
    ...SELECTION,
    format: representation('json', 'md', 'atom'),
  },
  ({ attribute: attributes, format, ...values }, selection, place): ChangelogInput => {
    const { days, from, to, group_by, by_day, limit, offset, entity, type, direction, min_change_percent } = values;
    if (days !== null && (from !== null || to !== null))
      throw invalid('days: counts back from now; use either days, or from and to.');
    if (from !== null && to !== null && from >= to) throw invalid('to: must be later than from.');
    const part = by_day ? 'by_day' : (place.format ?? format) === 'atom' ? 'format=atom' : null;
    if (group_by !== null && part !== null) throw invalid(`group_by: groups have no items; omit ${part}.`);
    return {
      ...selection,
      names: [...new Set([...selection.names, ...(attributes ?? []), ...(group_by === null ? [] : [group_by])])],
      conditions: [...selection.names, ...(group_by === null ? [] : [group_by])],
      ...{ days: days ?? USUAL_DAYS, from, to, group_by, limit, offset },
      ...{ attributes, entity, type, direction, min_change_percent, by_day },
    };
  },
);

/** `since` of the change feed, required: changes recorded later are answered. In microseconds since 1970. */
const SINCE: Parameter<number> = {
  schema: () =>
    TIME_SCHEMA.describe(
      'Changes recorded after this moment, which counts to the microsecond; next_since of the answer before',
    ),
  parse: (values, { name }) => microseconds(name, single(name, values)),
};

/** `wait`. No tool has it: a host would end a call that waits. */
const WAIT: Parameter<number> = {
  ...integerParameter('Seconds to wait for a change', { min: 0, max: 30, fallback: 0 }),
  no_tool: true,
};

/** Parameters of `GET /v1/{ds}/changes`. */
export const changesParameters = parameters(
  {
    since: SINCE,
    limit: integerParameter('Changes of an answer', { min: 1, max: HISTORY_BOUNDS.changes, fallback: 1000 }),
    wait: WAIT,
    format: FORMAT,
  },
  ({ since, limit, wait }): ChangesInput => ({ since, limit, wait }),
);

/**
 * A time in whole microseconds since 1970. Finer digits are cut off: changes are recorded in whole
 * microseconds. Times outside the safe integers become the nearest one.
 */
function microseconds(name: string, raw: string): number {
  const milliseconds = Math.floor(parseTime(name, raw));
  const [, digits = ''] = /\.(\d{1,9})/u.exec(raw) ?? [];
  const finer = Number(digits.padEnd(6, '0').slice(3, 6));
  const time = milliseconds * 1000 + finer;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, time));
}

/** Parameters of `GET /v1/{ds}/export`: the file of the snapshot. */
export const exportParameters = parameters({
  format: choice('csv and jsonl have one record per line', EXPORT_FORMATS, 'csv'),
});
