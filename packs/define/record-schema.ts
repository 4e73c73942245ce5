// A record of a pack as JSON Schema 2020-12, for `/v1/{ds}/schema` and every channel that describes answers.
import type { Attribute, Pack } from './model.ts';

/** A JSON Schema: a plain object that answers contain unchanged. */
export type JsonSchema = { [keyword: string]: unknown };

/** Schema of one value. Only standard keywords, for strict validators; the unit is in the description. */
function attributeSchema(attribute: Attribute): JsonSchema {
  const unit = attribute.unit === null ? '' : ` Unit: ${attribute.unit}.`;
  const description = `${attribute.description.replace(/\.$/, '')}.${unit}`;
  return { description, ...typeSchema(attribute), examples: [attribute.example] };
}

function typeSchema(attribute: Attribute): JsonSchema {
  switch (attribute.type) {
    case 'string':
    case 'text':
      return { type: 'string', minLength: 1 };
    case 'url':
      return { type: 'string', format: 'uri', pattern: '^https?://' };
    case 'enum':
      return attribute.values === null ? { type: 'string', minLength: 1 } : { type: 'string', enum: attribute.values };
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
    case 'number':
      return { type: attribute.type, ...bounds(attribute.range) };
    case 'date':
      return { type: 'string', format: 'date' };
    case 'datetime':
      return TIME;
    case 'strings':
      return { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, uniqueItems: true };
    case 'geo':
      return {
        type: 'object',
        properties: {
          lat: { type: 'number', minimum: -90, maximum: 90 },
          lng: { type: 'number', minimum: -180, maximum: 180 },
        },
        required: ['lat', 'lng'],
        additionalProperties: false,
      };
    case 'price':
      return priceSchema(attribute);
  }
}

/** A number, or a range in the attribute's currency (contract section 2). */
function priceSchema(attribute: Attribute): JsonSchema {
  const amount = {
    type: 'number',
    ...bounds({ min: Math.max(0, attribute.range.min ?? 0), max: attribute.range.max }),
  };
  const range = {
    type: 'object',
    properties: { min: amount, max: amount, currency: { const: attribute.currency } },
    required: ['min', 'max', 'currency'],
    additionalProperties: false,
  };
  return { anyOf: [amount, range] };
}

function bounds({ min, max }: Attribute['range']): JsonSchema {
  return { ...(min === null ? {} : { minimum: min }), ...(max === null ? {} : { maximum: max }) };
}

const SHARE = { type: 'number', minimum: 0, maximum: 1 };
const TIME = { type: 'string', format: 'date-time' };
const DISTANCE = { description: 'Distance from near, with sort=distance', type: 'number', minimum: 0 };
const LINK = { type: 'string', format: 'uri', pattern: '^https?://' };

const PROVENANCE: JsonSchema = {
  description: 'Where a value comes from',
  type: 'object',
  properties: {
    source_url: { description: 'A page on which the value can be checked', ...LINK },
    observed_at: { description: 'When the winning source last had this value', ...TIME },
    confidence: { description: 'Confidence in the value', ...SHARE },
    evidence: { description: 'Passage, row or derivation that supports the value', type: 'string' },
    source: {
      type: 'object',
      properties: { kind: { description: 'owner: set by the verified owner', enum: ['collector', 'owner'] } },
      required: ['kind'],
      additionalProperties: false,
    },
    status: {
      description:
        'held: a newer value waits for confirmation; contested: another source says otherwise; absent: neither',
      enum: ['held', 'contested'],
    },
  },
  required: ['source_url', 'observed_at', 'confidence', 'evidence', 'source'],
  additionalProperties: false,
};

/** Values by attribute of the dataset; without a pack any attributes. */
function valuesSchema(pack: Pack | null): JsonSchema {
  const description = 'Values by attribute; a value that no source has is absent';
  if (pack === null) return { description, type: 'object' };
  const properties = Object.fromEntries(
    pack.attributes.map((attribute) => [attribute.name, attributeSchema(attribute)]),
  );
  return { description, type: 'object', properties, additionalProperties: false };
}

/** Members of every record, in the order of answers. */
function members(pack: Pack | null): JsonSchema {
  const names = pack === null ? {} : { propertyNames: { enum: pack.attributes.map((attribute) => attribute.name) } };
  return {
    id: { description: 'Never changes', type: 'string', pattern: '^r-[0-9a-f]{16}$' },
    slug: { description: 'Readable, fixed when the record is first observed', type: 'string', pattern: '^[a-z0-9-]+$' },
    name: { type: 'string', minLength: 1 },
    dataset: pack === null ? { type: 'string' } : { const: pack.id },
    url: { description: 'Public page of the record', ...LINK },
    updated_at: { description: 'When its newest value change became visible', ...TIME },
    attributes: valuesSchema(pack),
    provenance: { type: 'object', ...names, additionalProperties: { $ref: '#/$defs/provenance' } },
    freshness: {
      description: 'Hours since observed_at, by attribute',
      type: 'object',
      ...names,
      additionalProperties: { type: 'number', minimum: 0 },
    },
    quality_score: { description: 'Completeness, confidence and freshness in one number', ...SHARE },
    completeness: { description: 'Weighted share of the attributes that have a value', ...SHARE },
    verified_owner: { description: 'Whether an owner has claimed the record', type: 'boolean' },
    license: { type: 'string' },
    attribution: { description: 'Ready-to-paste citation; ends with url', type: 'string' },
    preview: { description: 'Public fields only', const: true },
    sample: { description: 'Fictional', const: true },
    score: { description: 'Word overlap, in answers of similar', type: 'number', minimum: 0 },
    ...(pack === null || pack.attributes.some(({ type }) => type === 'geo') ? { distance_km: DISTANCE } : {}),
    group: {
      description: 'Attribute and value of its group, with group_by',
      type: 'object',
      maxProperties: 1,
      ...names,
    },
    as_of: { description: 'The requested time, if there was one', ...TIME },
  };
}

/** Names of the members of a record besides the attributes, which every answer with records has. */
export const RECORD_MEMBERS: readonly string[] = Object.keys(members(null));

/** Members in some answers only. */
const OPTIONAL = ['preview', 'sample', 'score', 'distance_km', 'group', 'as_of'];

/** JSON Schema 2020-12 of a record in answers (contract section 2); null: of any dataset. */
export function recordSchema(pack: Pack | null): JsonSchema {
  const properties = members(pack);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: pack === null ? 'Record' : `Record of ${pack.title}`,
    description: pack === null ? 'A record of any dataset' : pack.description,
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => !OPTIONAL.includes(name)),
    additionalProperties: false,
    $defs: { provenance: PROVENANCE },
  };
}
