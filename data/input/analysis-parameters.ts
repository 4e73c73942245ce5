// Parameters of similar, compare, statistics and time series, with the split of 400 and 422 of contract
// section 4.
import { z } from 'zod';
import { type Attribute, type AttributeType, DATED, type Pack } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { KEY_PERIODS } from '../plan/group-key.ts';
import { single } from './filters.ts';
import { type Parameter, type Selection, selectingParameters } from './parameters.ts';
import { BOUNDS, listValues, parseList, parseText, printable } from './parse-values.ts';
import {
  type AttributeRule,
  allowedAttribute,
  attributeParameter,
  attributesParameter,
  choice,
  ENTITY_ID,
  idsParameter,
  integerParameter,
  invalid,
  LIST_FIELDS,
  listSchema,
  optional,
  representation,
} from './rows.ts';
import { COUNTABLE, counted, MOMENT, SELECTION } from './selection.ts';

/** Documented bounds of analysis. */
export const ANALYSIS_BOUNDS = {
  /** Records of one comparison. */
  compare: 5,
  /** Records that `similar` answers. */
  similar: 100,
  /** Days that a time series looks back. */
  days: 366,
  /** Records that a time series may be of. */
  records: 5_000,
  /** Groups of one statistics answer, both levels together. */
  groups: 1_000,
  /** Buckets of a histogram. */
  buckets: 50,
  /** Points of one time series answer, all groups together. */
  points: 10_000,
} as const;

export interface SimilarInput extends Selection {
  /** Id, slug or key, as in the path. */
  entity_id: string;
  limit: number;
  /** The parameter, or the default of the pack; null: any record. */
  differ_by: string | null;
  fields: string[] | null;
}

/** `names` also contains the attributes and the keys. */
export interface StatsInput extends Selection {
  /** At least one. */
  attributes: string[];
  group_by: string[];
  order: (typeof STATS_ORDERS)[number];
  /** Most rows of each level. */
  limit: number;
  /** Rows with fewer values are left out. */
  having_min_count: number;
  /** Buckets of each row's histogram; null: no histogram. */
  buckets: number | null;
}

/** Figures that order the rows of statistics. */
const ORDERING_FIGURES = ['count', 'sum', 'median', 'min', 'max', 'mean'] as const;

/** A figure, with `-` in front for descending order. */
const STATS_ORDERS = ORDERING_FIGURES.flatMap((figure) => [`-${figure}` as const, figure]);

export interface TimeseriesInput extends Selection {
  attribute: string;
  group_by: string | null;
  days: number;
  step: 'day' | 'week';
}

/** `ids` are the records to compare, as the client wrote them; `where` and `words` filter them. */
export interface CompareInput extends Selection {
  ids: string[];
  columns: string[];
}

/** Attribute types with one value that two records can have in common. */
const SINGLE: readonly AttributeType[] = ['string', 'text', 'url', 'enum', 'boolean', 'integer', 'number', ...DATED];

const union = (...lists: readonly (readonly string[])[]) => [...new Set(lists.flat())];

const FORMAT = representation('json', 'md');

const COMPARABLE: AttributeRule = {
  may: ({ type }) => SINGLE.includes(type),
  otherwise: ({ name, type }) => `${name} (${type}) is not an attribute with a single plain value.`,
};

/** `differ_by`; the pack may have one by default. */
const DIFFER_BY: Parameter<string | null> = {
  ...optional(attributeParameter('', COMPARABLE)),
  schema: (pack, as) => {
    const name = pack?.serving.similar_differ_by;
    const description = `Only records with another value of this attribute${name ? `; ${name} by default` : ''}`;
    return optional(attributeParameter(description, COMPARABLE)).schema!(pack, as);
  },
};

/** Parameters of `GET /v1/{ds}/entities/{entity_id}/similar`. */
export const similarParameters = selectingParameters(
  {
    entity_id: ENTITY_ID,
    limit: integerParameter('Records to answer', { min: 1, max: ANALYSIS_BOUNDS.similar, fallback: 10 }),
    differ_by: DIFFER_BY,
    fields: LIST_FIELDS,
    ...SELECTION,
    ...MOMENT,
    format: FORMAT,
  },
  ({ entity_id, limit, differ_by, fields }, selection, { pack }): SimilarInput => ({
    ...selection,
    names: union(selection.names, fields?.names ?? [], differ_by === null ? [] : [differ_by]),
    // A record without common words is no answer.
    conditions: union(
      selection.names,
      pack.serving.similar_by,
      [differ_by ?? pack.serving.similar_differ_by ?? []].flat(),
    ),
    entity_id,
    limit,
    differ_by: differ_by ?? pack.serving.similar_differ_by,
    fields: fields?.fields ?? null,
  }),
);

/** Attributes that have statistics. */
const NUMBER: AttributeRule = {
  may: ({ type }) => NUMERIC.includes(type),
  otherwise: ({ name, type }, choices) => `${name} (${type}) is not numeric; choose one of ${choices.join(', ')}.`,
};

/** Parses attributes to group by, at most `most`, each once. */
function parseKeys(values: string[], pack: Pack, most: number): string[] {
  const keys = parseList('group_by', values);
  if (keys.length !== values.flatMap(listValues).length) throw invalid('group_by: contains the same attribute twice.');
  if (keys.length > most)
    throw invalid(`group_by: must have ${most === 1 ? 'one attribute' : `at most ${most} attributes`} here.`);
  for (const key of keys) {
    const [name = '', period] = key.split(':');
    allowedAttribute(pack, 'group_by', name, period === undefined ? COUNTABLE : PERIODIC);
    if (period !== undefined && !PERIOD_NAMES.includes(period))
      throw invalid(
        `group_by: ${printable(key)} must end with :${KEY_PERIODS.join(' or :')}; ${name} alone groups by day.`,
      );
  }
  return keys;
}

const PERIOD_NAMES: readonly string[] = KEY_PERIODS;

/** Dates and times, which `:month` and `:year` group. */
const PERIODIC: AttributeRule = {
  may: (attribute) => counted(attribute) && DATED.includes(attribute.type),
  otherwise: ({ name, type }, choices) =>
    `${name} (${type}) has no months or years; ${choices.length === 0 ? `write ${name} alone` : `choose one of ${choices.join(', ')}`}.`,
};

/** The attributes of keys. */
const attributesOfKeys = (keys: readonly string[]) => keys.map((key) => key.split(':')[0]!);

/** Every key of a dataset. */
const keysOfPack = (pack: Pack) =>
  pack.attributes.filter(counted).flatMap(({ name, type }) => {
    return DATED.includes(type) ? [name, ...KEY_PERIODS.map((period) => `${name}:${period}`)] : [name];
  });

/** Parameters of `GET /v1/{ds}/stats`: `group_by` is `a` or `a,b`. */
export const statsParameters = selectingParameters(
  {
    attribute: attributesParameter(`Numeric attributes, at most ${BOUNDS.by}`, {
      rule: NUMBER,
      most: BOUNDS.by,
    }),
    group_by: {
      schema: () =>
        listSchema('One attribute, or two (groups inside groups); of a date also name:month, name:year', 2).optional(),
      parse: (values, { pack }) => parseKeys(values, pack, 2),
      fallback: [],
    } satisfies Parameter<string[]>,
    order: choice('- puts the largest first', STATS_ORDERS, '-count'),
    limit: integerParameter('Rows a level', { min: 1, max: ANALYSIS_BOUNDS.groups, fallback: 1_000 }),
    having_min_count: integerParameter('Least count', { min: 1, fallback: 1 }),
    buckets: optional(integerParameter('Parts of a histogram', { min: 2, max: ANALYSIS_BOUNDS.buckets })),
    ...SELECTION,
    ...MOMENT,
    format: FORMAT,
  },
  ({ attribute: attributes, group_by, order, limit, having_min_count, buckets }, selection): StatsInput => ({
    ...selection,
    names: union(selection.names, attributes, attributesOfKeys(group_by)),
    ...{ attributes, group_by, order, limit, having_min_count, buckets },
  }),
);

/** Parameters of `GET /v1/{ds}/timeseries`. */
export const timeseriesParameters = selectingParameters(
  {
    attribute: attributeParameter('Numeric attribute', NUMBER),
    days: integerParameter('Days before today', { min: 1, max: ANALYSIS_BOUNDS.days, fallback: 90 }),
    step: choice('Days from point to point: 1 or 7', ['day', 'week'], 'day'),
    group_by: {
      schema: (pack) => {
        const keys = pack === null ? [] : keysOfPack(pack);
        const schema = keys.length > 0 ? z.enum(keys) : z.string().min(1);
        return schema.describe('Attribute; of a date also name:month, name:year').optional();
      },
      parse: (values, { pack }) => parseKeys(values, pack, 1)[0]!,
      fallback: null,
    } satisfies Parameter<string | null>,
    ...SELECTION,
    format: FORMAT,
  },
  ({ attribute, group_by, days, step }, selection): TimeseriesInput => ({
    ...selection,
    names: union(selection.names, [attribute], attributesOfKeys(group_by === null ? [] : [group_by])),
    attribute,
    group_by,
    days,
    step,
  }),
);

/** `attribute` of a comparison: one of the columns that the pack compares. */
const COLUMN: Parameter<string | null> = {
  schema: (pack) =>
    (pack && pack.compare.length > 0 ? z.enum(pack.compare) : z.string()).optional().describe('Only this column'),
  parse: (values, { name, pack }) =>
    allowedAttribute(pack, name, parseText(name, single(name, values)), {
      may: (attribute: Attribute) => pack.compare.includes(attribute.name),
      otherwise: (attribute) => `${attribute.name} is not compared; choose one of ${pack.compare.join(', ')}.`,
    }),
  fallback: null,
};

/** Parameters of `GET /v1/{ds}/compare`: the records of `ids`, as far as the filters keep them. */
export const compareParameters = selectingParameters(
  {
    ...SELECTION,
    ...MOMENT,
    ids: idsParameter(`Ids, slugs or keys, at most ${ANALYSIS_BOUNDS.compare}`, ANALYSIS_BOUNDS.compare),
    attribute: COLUMN,
    format: FORMAT,
  },
  ({ ids, attribute }, selection, { pack }): CompareInput => ({
    ...selection,
    names: union(selection.names, attribute === null ? [] : [attribute]),
    conditions: selection.names,
    ids,
    columns: attribute === null ? pack.compare : [attribute],
  }),
);
