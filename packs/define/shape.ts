// Shape of pack.ts. Every message completes the sentence "expected …".
import { z } from 'zod';
import { ATTRIBUTE_TYPES, type Identity, type Rule, type Value } from './model.ts';
import { parseSchedule } from './schedule.ts';

const text = (expected: string) => z.string({ error: expected }).trim().min(1, expected);

const link = (expected = 'an http or https address') => z.url({ protocol: /^https?$/, error: expected });

const number = (expected: string, min: number, max = Number.MAX_SAFE_INTEGER) =>
  z.number({ error: expected }).min(min, expected).max(max, expected);

const whole = (expected: string, min: number, max?: number) => number(expected, min, max).int(expected);

const flag = (fallback: boolean) => z.boolean({ error: 'true or false' }).default(fallback);

const share = (expected: string) => number(`${expected} from 0 to 1`, 0, 1);

const list = <T extends z.ZodType>(of: T, expected: string) => z.array(of, { error: expected });

const object = <T extends z.core.$ZodShape>(shape: T) => {
  const expected = `an object with ${Object.keys(shape).join(', ')}`;
  return z.strictObject(shape, { error: expected });
};

const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, { error: `one of ${values.join(', ')}` });

/** Name of an attribute; whether it exists is checked after all attributes are parsed. */
const attribute = text('the name of an attribute');

/** EUR per call. `toFixed` rounds the exact binary value, so equality means at most six decimals. */
const eur = number('a price in EUR above 0, at most 100', 0, 100)
  .refine((n) => n > 0, 'a price in EUR above 0, at most 100')
  .refine((n) => Number(n.toFixed(6)) === n, 'a price in EUR with at most six decimals');

const schedule = text('a cron expression in UTC, such as 0 3 * * *').superRefine((cron, context) => {
  try {
    parseSchedule(cron);
  } catch (error) {
    context.addIssue(`a cron expression in UTC: ${error instanceof Error ? error.message : 'five fields'}`);
  }
});

const hours = number('a number of hours above 0', Number.MIN_VALUE);
const sla = 'hours until a value is out of date: a number, or {warn, error}';

/** One column, without the rules of its type (attributes.ts). */
export const AttributeShape = object({
  type: oneOf(ATTRIBUTE_TYPES),
  unit: text("a unit such as 'tokens'").optional(),
  currency: z
    .string({ error: 'a currency code such as USD' })
    .regex(/^[A-Z]{3}$/, 'a currency code such as USD')
    .optional(),
  description: text('a sentence for a reader who has never seen the data'),
  example: z.unknown(),
  public: flag(false),
  filterable: flag(false),
  searchable: flag(false),
  values: list(text('a text'), 'a list of the allowed values').min(1, 'a list of the allowed values').optional(),
  range: object({
    min: number('the least allowed number', -Number.MAX_VALUE, Number.MAX_VALUE).optional(),
    max: number('the greatest allowed number', -Number.MAX_VALUE, Number.MAX_VALUE).optional(),
  }).optional(),
  jump: number('a factor above 1', 1)
    .refine((n) => n > 1, 'a factor above 1')
    .optional(),
  group_jump: z.boolean({ error: 'true or false' }).optional(),
  tolerance: share('a share').optional(),
  sla: z.union([hours, object({ warn: hours, error: hours })], { error: sla }),
  weight: number('a weight of at least 0', 0).default(1),
  once: flag(false),
  aliases: list(text('a name'), 'a list of other names').default([]),
  vocabulary: oneOf(['country']).optional(),
  editable: flag(false),
  published_entries: whole('a whole number of at least 1', 1).optional(),
});

const PinShape = object({
  package: text('the name of an npm package').regex(
    /^(@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/,
    'the name of an npm package',
  ),
  version: text('an exact version').regex(/^\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/, 'an exact version such as 1.2.3'),
  integrity: z
    .string({ error: "a hash 'sha512-…', or '' for a folder under fixtures" })
    .regex(/^(sha512-[A-Za-z0-9+/]{86}==)?$/, "a hash 'sha512-…', or '' for a folder under fixtures"),
  observed_at: z.iso.datetime({ error: 'a time in UTC such as 2026-09-16T00:00:00Z' }),
  date_source: oneOf(['data', 'tag', 'pin', 'registry']),
});

const CrawlShape = object({
  urls: list(link(), 'a list of addresses').min(1, 'at least one address'),
  delay_seconds: number('a number of seconds of at least 0', 0).default(1),
  max_bytes: whole('a whole number of bytes of at least 1', 1).default(10_000_000),
  max_pages: whole('a whole number of pages of at least 1', 1).default(1000),
});

const SourceShape = object({
  title: text('what the source is called'),
  url: link(),
  license: text('the licence of the source'),
  trust: share('a trust'),
  pins: list(PinShape, 'a list of pins {package, version, integrity, observed_at, date_source}').default([]),
  newest: text('the name of an npm package').nullable().default(null),
  crawl: CrawlShape.nullable().default(null),
  complete: flag(false),
});

type Values = Record<string, Value>;
const func = <T>(expected: string) => z.custom<T>((given) => typeof given === 'function', { error: expected });

const TestShape = object({
  kind: oneOf(['rows', 'fill', 'unique', 'accepted']),
  attribute: attribute.exactOptional(),
  min: number('a number of at least 0', 0).exactOptional(),
  max: number('a number of at least 0', 0).exactOptional(),
  values: list(text('a text'), 'a list of the accepted values').min(1, 'a list of the accepted values').exactOptional(),
});

/** Members of `definePack({...})`, checked separately, so that one mistake does not hide another. */
export const PackShape = object({
  title: text('a short title'),
  description: text('one or two sentences about the content of the dataset'),
  keywords: list(text('a keyword'), 'a list of keywords').default([]),
  license: object({ name: text('the name of the licence'), url: link() }),
  attribution: text('the text that a citation must contain'),
  revision: whole('a whole number of at least 1', 1).default(1),
  sources: z.record(z.string(), SourceShape, { error: 'an object of sources by id' }),
  attributes: z.record(z.string(), AttributeShape, { error: 'an object of attributes by name' }),
  identity: object({
    attributes: list(attribute, 'a list of attribute names').min(1, 'at least one attribute name'),
    key: func<(identity: Identity) => string>('a function (identity) => text').optional(),
    slug: func<(identity: Identity, values: Values) => string>('a function (identity, values) => text').optional(),
    name: func<(identity: Identity, values: Values) => string>('a function (identity, values) => text').optional(),
  }),
  consolidation: object({
    floor: share('a confidence').default(0.3),
    apart_days: number('a number of days of at least 0', 0).default(30),
    penalty: share('a confidence').default(0.2),
    rule: func<(identity: Identity) => Rule>('a function (identity) => {prefer, trust?}').optional(),
  }).optional(),
  gone: object({
    attribute,
    value: text('the value for a removed record'),
    confidence: share('a confidence').default(0.8),
  })
    .nullable()
    .default(null),
  quality: object({
    completeness: share('a weight'),
    confidence: share('a weight'),
    freshness: share('a weight'),
  }).default({ completeness: 0.5, confidence: 0.3, freshness: 0.2 }),
  group_by: attribute,
  serving: object({
    showcase: object({ per_group: whole('a whole number from 1 to 20', 1, 20) }),
    similar_differ_by: attribute.nullable().default(null),
    similar_by: list(attribute, 'a list of attribute names').min(1, 'at least one attribute name').optional(),
    similar_min_score: share('a score').default(0),
    prominence: attribute.nullable().default(null),
  }),
  compare: list(attribute, 'a list of attribute names').min(1, 'at least one attribute name'),
  prices: object({ search: eur, get: eur, facts: eur, prices: eur.optional(), compare: eur, stats: eur }),
  schedule,
  owner: object({
    domain: attribute.nullable().default(null),
    shared_domain_bound: whole('a whole number of at least 1', 1).default(5),
  }).default({ domain: null, shared_domain_bound: 5 }),
  tests: list(TestShape, 'a list of tests {kind, …}').default([]),
});

/** Content of pack.ts. docs/packs.md explains every member. */
export type PackInput = z.input<typeof PackShape>;
export type AttributeDraft = z.output<typeof AttributeShape>;
export type PackDraft = z.output<typeof PackShape>;

/** Member names of the object at a path in a shape, for "one of …" and the nearest name. */
export function membersAt(shape: z.core.$ZodType, path: PropertyKey[]): string[] {
  const inner = unwrap(shape);
  if (inner instanceof z.ZodUnion) {
    return inner.options.flatMap((option) => membersAt(option as z.core.$ZodType, path));
  }
  const [key, ...rest] = path;
  if (key === undefined) return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
  if (inner instanceof z.ZodObject) {
    const member = inner.shape[String(key)];
    return member ? membersAt(member, rest) : [];
  }
  if (inner instanceof z.ZodArray) return membersAt(inner.element, rest);
  return inner instanceof z.ZodRecord ? membersAt(inner.valueType, rest) : [];
}

function unwrap(shape: z.core.$ZodType): z.core.$ZodType {
  let at = shape;
  while (
    at instanceof z.ZodOptional ||
    at instanceof z.ZodExactOptional ||
    at instanceof z.ZodNullable ||
    at instanceof z.ZodDefault
  )
    at = at.unwrap();
  return at;
}
