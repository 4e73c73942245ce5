// Shape of pack.ts. Every message completes the sentence "expected …".
import slugify from '@sindresorhus/slugify';
import { z } from 'zod';
import { parseSchedule } from './schedule.ts';
import {
  arrayOf,
  boundedNumber,
  ChecksShape,
  flagWithDefault,
  functionOf,
  httpAddress,
  oneOfTexts,
  orNull,
  requiredText,
  shareOfOne,
  strictObject,
  textValue,
  wholeNumber,
} from './shape-parts.ts';
import { SourceShape } from './source-shape.ts';
import { foldKey } from './text.ts';
import { ATTRIBUTE_TYPES, BETTER, type Identity, type Rule, type Value } from './value.ts';

/** Name of an attribute; whether it exists is checked after all attributes are parsed. */
const attribute = requiredText('the name of an attribute');

/** EUR per call, as micro-euros. `toFixed` rounds the exact binary value, so equality means at most six decimals. */
const eur = boundedNumber('a price in EUR above 0, at most 100', 0, 100)
  .refine((n) => n > 0, 'a price in EUR above 0, at most 100')
  .refine((n) => Number(n.toFixed(6)) === n, 'a price in EUR with at most six decimals')
  .transform((n) => Math.round(n * 1_000_000));

const schedule = requiredText('a cron expression in UTC, such as 0 3 * * *').superRefine((cron, context) => {
  try {
    parseSchedule(cron);
  } catch (error) {
    context.addIssue(`a cron expression in UTC: ${error instanceof Error ? error.message : 'five fields'}`);
  }
});

const hours = boundedNumber('a number of hours above 0', Number.MIN_VALUE);
const sla = 'hours until a value is out of date: a number, or {warn, error}';

/** A bound of a number, or of a date; which of them is checked with the type (attributes.ts). */
const bound = (expected: string) => z.union([z.number(), z.string()], { error: expected });

const CURRENCY = 'a currency code such as USD';
const SEARCH_WEIGHT = 'an integer from 1 to 10';

/** One column, without the rules of its type (attributes.ts). */
export const AttributeShape = strictObject({
  type: oneOfTexts(ATTRIBUTE_TYPES).describe('Kind of value; the table of types has the form of each.'),
  unit: orNull(requiredText("a unit such as 'tokens'")).describe(
    'Unit as printed: `m`, `EUR/visit`. Required for a price; also for numbers and points.',
  ),
  currency: orNull(z.string({ error: CURRENCY }).regex(/^[A-Z]{3}$/, CURRENCY)).describe(
    'Currency of a price. Required for a price, a mistake for anything else.',
  ),
  description: requiredText('a sentence for a reader who has never seen the data').describe(
    'What the attribute means.',
  ),
  label: requiredText("a short name for people, such as 'Output price'")
    .optional()
    .describe('Name on pages. Unset: from the name, its group last, such as `Output price` for `price.output`.'),
  example: z.unknown().describe('A possible value; it must fit the attribute.'),
  public: flagWithDefault(false).describe('Free to see; all others are part of paid answers. At least one is public.'),
  filterable: flagWithDefault(false).describe('Search can filter by it; the filters follow from the type.'),
  searchable: flagWithDefault(false).describe(
    '`q` finds its words; for texts. The displayed name of a record and its slug are always found.',
  ),
  search_weight: z
    .int({ error: SEARCH_WEIGHT })
    .min(1, SEARCH_WEIGHT)
    .max(10, SEARCH_WEIGHT)
    .default(1)
    .describe(
      'How much its words count in `sort=relevance`, 1 to 10. The words of the displayed name count 10. With 10, for ' +
        'codes and other names, a whole value that equals `q` ranks right after an equal name.',
    ),
  key: z
    .boolean({ error: 'true or false' })
    .optional()
    .describe(
      'A value of it names its record in place of an id or slug: a code that few records share. The attribute is ' +
        'public, and owners cannot set it. Where the identity attributes are public, their values joined by `/` name ' +
        'a record anyway. Unset: false.',
    ),
  values: orNull(
    arrayOf(textValue('a text'), 'a list of the allowed values').min(1, 'a list of the allowed values'),
  ).describe('Closed list of an enum. Unset: the values are those of the data.'),
  range: strictObject({
    min: bound('the least allowed number, or date')
      .optional()
      .describe('The minimum: a number; for a date or time, a date.'),
    max: bound("the greatest allowed number; for a date or time, a date or 'now'")
      .optional()
      .describe("The maximum: a number; for a date or time, a date, or `'now'`: nothing in the future."),
  })
    .optional()
    .describe('Numbers, dates and times outside are rejected. Unset: open.'),
  round: z
    .boolean({ error: 'true or false' })
    .optional()
    .describe(
      'Of a number or price: a number of more than 15 significant digits is rounded to 15. Unset: such a number is ' +
        'rejected, unless it is the shortest text of a double, such as 0.30000000000000004.',
    ),
  jump: orNull(boundedNumber('a factor above 1', 1).refine((n) => n > 1, 'a factor above 1')).describe(
    'A change by more than this factor, up or down, is held until a later reading, another source ' +
      'or an operator confirms it. Unset: no bound.',
  ),
  group_jump: z
    .boolean({ error: 'true or false' })
    .optional()
    .describe(
      "Whether a record's first value is held too when it is further than `jump` from the median of " +
        'at least 5 other records of its `group_by` group. Unset: true with `jump`. Set `false` if ' +
        'values of a group differ by more than that anyway, as prices of one shop do.',
    ),
  tolerance: shareOfOne('a share')
    .optional()
    .describe('Two sources agree when they differ by at most this share: `0.005` is half a percent. Unset: 0.'),
  sla: z
    .union(
      [
        hours,
        strictObject({
          warn: hours.describe('Hours until a warning.'),
          error: hours.describe('Hours until a value is out of date.'),
        }),
      ],
      { error: sla },
    )
    .transform((bounds) => (typeof bounds === 'number' ? { warn: bounds / 2, error: bounds } : bounds))
    .describe('Hours until a value is out of date: a number, which warns at half, or both bounds.'),
  weight: boundedNumber('a weight of at least 0', 0).default(1).describe('Weight in the completeness of a record.'),
  volatile: z
    .boolean({ error: 'true or false' })
    .optional()
    .describe('Its values change by nature: `checks.changed_values` does not count them. Unset: false.'),
  once: flagWithDefault(false).describe('Kept from the first reading that named the record, and never replaced.'),
  aliases: arrayOf(requiredText('a name'), 'a list of other names')
    .default([])
    .describe(
      'Other names that callers may try, such as `altitude` for `elevation`: messages about an ' +
        'unknown name suggest the attribute. They are not names of filters.',
    ),
  vocabulary: orNull(oneOfTexts(['country'])).describe(
    '`country`: the values are countries, as codes or names. A value that no record has is then ' +
      'understood by ISO 3166-1 codes and names in many languages (`UK`, `Deutschland`), and the ' +
      'hint names the value that records have.',
  ),
  better: oneOfTexts(BETTER)
    .optional()
    .describe(
      'Which numbers are better: `low` for a price, `high` for a limit. A comparison marks the best value. Unset: neither.',
    ),
  editable: flagWithDefault(false).describe(
    'A verified owner may set it; never the identity or the domain, and nothing without `owner.domain`.',
  ),
  published_entries: orNull(wholeNumber('a whole number of at least 1', 1)).describe(
    'Of a list: at most so many entries are published, the first ones. `q` finds a record by the ' +
      'others too (with a key, unless the attribute is public), and `facts` shows the whole list. ' +
      'Unset: all.',
  ),
});

/** A sum of attributes times inputs; references.ts checks the names. */
export const CalculatorShape = strictObject({
  title: requiredText('a short title').describe('What it computes: `Monthly cost`.'),
  unit: requiredText("a unit such as 'USD'").describe('Unit of the result.'),
  better: oneOfTexts(BETTER).optional().describe('Which results are better, as for an attribute. Unset: neither.'),
  inputs: z
    .record(
      z.string(),
      strictObject({
        label: requiredText('a label for a reader').describe('Label of the field: `Input tokens a month`.'),
        unit: requiredText("a unit such as 'tokens'").optional().describe('Unit, shown after the field.'),
        default: boundedNumber('a number of at least 0', 0).describe('The number that the field begins with.'),
      }),
      { error: 'an object of inputs by name' },
    )
    .describe('Numbers that the reader enters. The name is a parameter of the address.'),
  sum: arrayOf(
    strictObject({
      attribute: attribute.describe('A number or price: public, or one of `compare`.'),
      otherwise: attribute.optional().describe('Attribute that counts where a record has no value of `attribute`.'),
      input: requiredText('the name of an input').describe('The input that it is multiplied by.'),
      factor: boundedNumber('a number above 0', 0)
        .refine((n) => n > 0, 'a number above 0')
        .default(1)
        .describe('From the unit of the attribute to that of the result: `1e-6` for a price per million.'),
    }),
    'a list of terms {attribute, input, factor}',
  )
    .min(1, 'at least one term')
    .describe('The result is the sum of these terms: attribute × input × factor.'),
}).transform(({ inputs, sum, ...about }) => ({
  ...about,
  /** In the order of the page. */
  inputs: Object.entries(inputs).map(([name, input]) => ({ ...input, name, unit: input.unit ?? null })),
  terms: sum.map((term) => ({ ...term, otherwise: term.otherwise ?? null })),
}));

type Values = Record<string, Value>;

export const TestShape = strictObject({
  kind: oneOfTexts(['rows', 'fill', 'unique', 'accepted']).describe(
    '`rows`: number of records. `fill`: share of records with a value. `unique`: no value twice, also not in another letter case or with other accents. ' +
      '`accepted`: no other values.',
  ),
  attribute: attribute.exactOptional().describe('What is tested. Required for every kind but `rows`.'),
  min: boundedNumber('a number of at least 0', 0).exactOptional().describe('At least; a share from 0 to 1 for `fill`.'),
  max: boundedNumber('a number of at least 0', 0).exactOptional().describe('At most.'),
  values: arrayOf(textValue('a text'), 'a list of the accepted values')
    .min(1, 'a list of the accepted values')
    .exactOptional()
    .describe('The accepted values. Required for `accepted`.'),
});

const IdentityShape = strictObject({
  attributes: arrayOf(attribute, 'a list of attribute names')
    .min(1, 'at least one attribute name')
    .describe('Attributes that identify a record; collectors and samples give each of them.'),
  key: functionOf<(identity: Identity) => string>('a function (identity) => text')
    .optional()
    .describe(
      'Equal keys are one record. Unset: the values without letter case and accents. Never change ' +
        'it for a published dataset.',
    ),
  slug: functionOf<(identity: Identity, values: Values) => string>('a function (identity, values) => text')
    .optional()
    .describe(
      'The desired slug, of `a-z`, `0-9` and single `-`. A clash gets some digits of the key ' +
        'appended; a slug never changes. Unset: made from the identity.',
    ),
  name: functionOf<(identity: Identity, values: Values) => string>('a function (identity, values) => text')
    .optional()
    .describe('The displayed name of a record. Unset: the value of `name`.'),
  same: functionOf<(identity: Identity) => string | null>('a function (identity) => text or null')
    .optional()
    .describe(
      'Equal texts are the same thing from another source, such as one model at two providers: record pages ' +
        'list these by price, and `serving.similar_differ_by` names what differs. null, or unset: none.',
    ),
})
  .transform(({ attributes, key, slug, name, same }) => {
    const joined = (id: Identity) => attributes.map((attribute) => String(id[attribute] ?? '')).join('/');
    return {
      attributes,
      key: key ?? ((id: Identity) => foldKey(joined(id))),
      slug: slug ?? ((id: Identity) => slugify(joined(id))),
      name:
        name ?? ((id: Identity, values: Values) => (typeof values['name'] === 'string' ? values['name'] : joined(id))),
      same: same ?? (() => null),
    };
  })
  .describe('Which observations belong to one record.');

const BY_TRUST: Rule = { prefer: 'trust' };

const ConsolidationShape = strictObject({
  floor: shareOfOne('a confidence')
    .default(0.3)
    .describe('Values with less confidence are stored and never published.'),
  apart_days: boundedNumber('a number of days of at least 0', 0)
    .default(30)
    .describe('Readings further apart than this are no conflict: the newer wins.'),
  penalty: shareOfOne('a confidence')
    .default(0.2)
    .describe('Subtracted from the confidence of the winner when another source disagrees.'),
  rule: functionOf<(identity: Identity) => Rule>('a function (identity) => {prefer, trust?}')
    .optional()
    .describe(
      "Another choice for some records: with `prefer: 'newest'` the newer reading wins without a " +
        'review; `trust` replaces the trust of sources by id. Unset: by trust.',
    ),
}).transform(({ rule, ...numbers }) => ({ ...numbers, rule: rule ?? (() => BY_TRUST) }));

/** Members of `definePack({...})`, checked separately, so that one mistake does not hide another. */
export const PackShape = strictObject({
  title: requiredText('a short title').describe('Name of the dataset.'),
  description: requiredText('one or two sentences about the content of the dataset').describe(
    'Its contents, in a sentence or two.',
  ),
  keywords: arrayOf(requiredText('a keyword'), 'a list of keywords').default([]).describe('Words for catalogues.'),
  license: strictObject({
    name: requiredText('the name of the licence').describe('Its name, an SPDX id if there is one.'),
    url: httpAddress().describe('Its text.'),
  }).describe('The licence of the dataset as published.'),
  attribution: requiredText('the text that a citation must contain').describe(
    'What a citation must contain; every answer has it, followed by a link.',
  ),
  revision: wholeNumber('a whole number of at least 1', 1)
    .default(1)
    .describe(
      'Increase it when `collect.ts` or `from` reads the same source differently: every reading is then repeated.',
    ),
  sources: z
    .record(z.string(), SourceShape, { error: 'an object of sources by id' })
    .transform((sources) => Object.entries(sources).map(([id, source]) => ({ id, ...source })))
    .describe('Where values come from.'),
  attributes: z
    .record(z.string(), AttributeShape, { error: 'an object of attributes by name' })
    .describe('The columns of the dataset.'),
  identity: IdentityShape,
  consolidation: ConsolidationShape.optional()
    .transform((settings) => settings ?? ConsolidationShape.parse({}))
    .describe('How the published value is chosen among competing values.'),
  gone: strictObject({
    attribute: attribute.describe('Attribute that marks such a record, such as `status`.'),
    value: textValue('the value for a removed record').describe('Its value then, such as `discontinued`.'),
    confidence: shareOfOne('a confidence').default(0.8).describe('Confidence of that value.'),
  })
    .nullable()
    .default(null)
    .describe('The value of a record that a complete source no longer lists. Unset: the record stays as it was.'),
  quality: strictObject({
    completeness: shareOfOne('a weight').describe('Weight of the share of attributes that have a value.'),
    confidence: shareOfOne('a weight').describe('Weight of their confidence.'),
    freshness: shareOfOne('a weight').describe('Weight of their age.'),
  })
    .default({ completeness: 0.5, confidence: 0.3, freshness: 0.2 })
    .describe('Weights of the quality score; they sum to 1.'),
  checks: ChecksShape,
  group_by: attribute.describe('Public attribute that groups the showcase records: string, enum, boolean or integer.'),
  serving: strictObject({
    showcase: strictObject({
      per_group: wholeNumber('a whole number from 1 to 20', 1, 20).describe('How many of each group.'),
    }).describe('The records that `examples` returns free, with all their fields.'),
    distinguish_by: arrayOf(attribute, 'a list of attribute names')
      .optional()
      .describe(
        'Public attributes that distinguish records of the same name, in titles and lists: country, provider. ' +
          'Unset: those of the identity that are public.',
      ),
    core: arrayOf(attribute, 'a list of attribute names')
      .min(1, 'at least one attribute name')
      .optional()
      .describe(
        'Attributes that lists show to agents who select none. Unset: the name, those of the identity, `group_by` ' +
          'and those of `compare`.',
      ),
    similar_differ_by: attribute
      .nullable()
      .default(null)
      .describe('Similar records must differ in this attribute: string, enum, boolean or integer, no list.'),
    similar_by: arrayOf(attribute, 'a list of attribute names')
      .min(1, 'at least one attribute name')
      .optional()
      .describe('Searchable attributes whose words are compared for similar records. Unset: all of them.'),
    similar_min_score: shareOfOne('a score')
      .default(0)
      .describe('Records with a lower score are not similar; 0: one shared word is enough.'),
    prominence: attribute
      .nullable()
      .default(null)
      .describe(
        'A public number that grows with how well known a record is, such as the population of a ' +
          'town: showcases and the table begin with the greatest, and guides name the order.',
      ),
  }).describe('What is shown, and how similar records are found.'),
  compare: arrayOf(attribute, 'a list of attribute names')
    .min(1, 'at least one attribute name')
    .describe('Attributes side by side in a comparison.'),
  calculator: CalculatorShape.nullable()
    .default(null)
    .describe('A sum that pages compute for each record of a comparison, such as a monthly cost. Unset: none.'),
  prices: strictObject({
    search: eur.describe('Search, and similar.'),
    get: eur.describe('One record; a batch is this times its ids.'),
    facts: eur.describe('Value history.'),
    prices: eur.optional().describe('The prices of one record. Unset: as `get`.'),
    compare: eur.describe('A comparison.'),
    stats: eur.describe('Statistics, and time series.'),
  })
    .transform((prices) => ({ ...prices, prices: prices.prices ?? prices.get }))
    .describe('EUR per call, at most six decimals.'),
  schedule: schedule.describe('When the dataset is collected, as the register announces it: five fields, UTC.'),
  owner: strictObject({
    domain: attribute
      .nullable()
      .default(null)
      .describe(
        "Attribute with the web domain of a record's owner: an address at this domain may claim the " +
          'record. An owner may edit only `editable` attributes. Unset: no record can be claimed.',
      ),
    shared_domain_bound: wholeNumber('a whole number of at least 1', 1)
      .default(5)
      .describe('A domain that more records share than this is no proof by itself.'),
  })
    .default({ domain: null, shared_domain_bound: 5 })
    .describe('How an owner of a record is recognised.'),
  tests: arrayOf(TestShape, 'a list of tests {kind, …}')
    .default([])
    .describe('Requirements for a release. One that fails them is not published; the last good release stays.'),
});

/** Content of pack.ts. The guide "Reference of pack.ts" lists every member. */
export type PackInput = z.input<typeof PackShape>;

/**
 * Member names of the object at a path in a shape, for "one of …" and the nearest name. `input` decides between
 * shapes with a discriminator, such as the kinds of `from`.
 */
export function membersAt(shape: z.core.$ZodType, path: PropertyKey[], input: unknown): string[] {
  const inner = unwrapShape(shape);
  if (inner instanceof z.ZodUnion) {
    const options = inner instanceof z.ZodDiscriminatedUnion ? chosenOptions(inner, input) : inner.options;
    return [...new Set(options.flatMap((option) => membersAt(option as z.core.$ZodType, path, input)))];
  }
  const [key, ...rest] = path;
  if (key === undefined) return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
  if (inner instanceof z.ZodObject) {
    const member = inner.shape[String(key)];
    return member ? membersAt(member, rest, memberOf(input, key)) : [];
  }
  if (inner instanceof z.ZodArray) return membersAt(inner.element, rest, memberOf(input, key));
  return inner instanceof z.ZodRecord ? membersAt(inner.valueType, rest, memberOf(input, key)) : [];
}

const memberOf = (input: unknown, key: PropertyKey): unknown =>
  (input as Record<PropertyKey, unknown> | null | undefined)?.[key];

/** The options of a union whose discriminator has the value of the input; all when there is none. */
function chosenOptions({ def }: z.ZodDiscriminatedUnion, input: unknown): readonly z.core.$ZodType[] {
  const value = memberOf(input, def.discriminator);
  const chosen = def.options.filter((option) => {
    const literal = option instanceof z.ZodObject ? option.shape[def.discriminator] : undefined;
    return literal instanceof z.ZodLiteral && literal.values.has(value as string);
  });
  return chosen.length > 0 ? chosen : def.options;
}

/** The shape below `optional()`, `nullable()`, `default()` and `transform()`. */
export function unwrapShape(shape: z.core.$ZodType): z.core.$ZodType {
  let at = shape;
  for (;;) {
    if (at instanceof z.ZodPipe) at = at.in;
    else if (
      at instanceof z.ZodOptional ||
      at instanceof z.ZodExactOptional ||
      at instanceof z.ZodNullable ||
      at instanceof z.ZodDefault
    )
      at = at.unwrap();
    else return at;
  }
}
