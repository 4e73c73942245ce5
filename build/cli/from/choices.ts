// Choices over all attributes: identity, name, group, comparison, what is public and searched.
import { foldKey } from '../../../packs/define/text.ts';
import { cellText } from './column.ts';
import { namesGroup } from './names.ts';
import type { AttributeProposal, Choices, IdentityChoice } from './proposal.ts';
import type { RowSample } from './sample.ts';

/** The rows do not allow a pack: the message names the cause and the flag that helps. */
export class ProposalError extends Error {}

const IDENTIFYING = ['string', 'enum', 'url', 'date', 'datetime', 'integer', 'number'];

/** Names of identifying columns, best first. */
const ID_NAMES = [
  /^(id|uid|uuid|guid)$/,
  /^(code|key|nr|no|nummer|number|sku|slug|isin|isbn|ean|gtin|icao|iata|asin|wkn)$/,
  /(^|[_.])(id|uuid)$/,
  /(^|[_.])(code|sku|slug|nr|number|nummer|ean|gtin|isbn|isin)$/,
  /^(name|title|titel|bezeichnung|label|nom|nombre|product|produkt|item|article|artikel|model|modell)$/,
  /(^|[_.])(name|title|titel)$/,
  /^(url|link|website|homepage)$/,
];

/** Patterns of names that are ids and codes, not addresses or names. */
const STRONG_IDS = 4;

/** Rank of a name as an identity, 0 best; the number of patterns when it has none. */
function idRank({ name }: AttributeProposal): number {
  const rank = ID_NAMES.findIndex((pattern) => pattern.test(name));
  return rank < 0 ? ID_NAMES.length : rank;
}

/** Keys of the rows by the attributes: exact, and as the register compares them; null where one is missing. */
function keysOf(sample: RowSample, attributes: readonly AttributeProposal[]): (string | null)[] {
  const readers = attributes.map(({ index, missing }) => (row: readonly unknown[]) => {
    const text = cellText(row[index!]);
    return missing.has(text) ? '' : text;
  });
  return sample.rows.map((row) => {
    const parts = readers.map((read) => read(row));
    return parts.includes('') ? null : parts.join('\u0000');
  });
}

/** Rows that repeat an earlier row in every column. */
function repeatedRows(sample: RowSample): Set<number> {
  const seen = new Set<string>();
  const repeated = new Set<number>();
  sample.rows.forEach((row, i) => {
    const text = JSON.stringify(row.map(cellText));
    if (seen.has(text)) repeated.add(i);
    else seen.add(text);
  });
  return repeated;
}

type KeyCounts = Pick<IdentityChoice, 'repeated' | 'records' | 'incomplete' | 'exact'>;

function countKeys(keys: readonly (string | null)[], skip: ReadonlySet<number>): KeyCounts {
  const seen = new Set<string>();
  const folded = new Set<string>();
  let repeated = 0;
  let incomplete = 0;
  keys.forEach((key, i) => {
    if (key === null) incomplete++;
    else if (seen.has(key)) repeated += skip.has(i) ? 0 : 1;
    else {
      seen.add(key);
      folded.add(foldKey(key));
    }
  });
  return { repeated, records: seen.size, incomplete, exact: folded.size < seen.size };
}

/** Share of rows that may lack an identity, as a last line with a sum does. */
const MOST_INCOMPLETE = 0.02;

/**
 * The attributes that identify a record: `wanted`, else a unique and filled one, named ones first, else a
 * pair, else more. `refused`: identities that rows after the sample repeat, as lines. Throws ProposalError, with the
 * duplicates of the best columns, when there is none.
 */
export function chooseIdentity(
  sample: RowSample,
  attributes: readonly AttributeProposal[],
  wanted: readonly string[] | null,
  refused: ReadonlySet<string> = new Set(),
): IdentityChoice {
  const skip = repeatedRows(sample);
  const counted = (chosen: readonly AttributeProposal[]) => countKeys(keysOf(sample, chosen), skip);
  if (wanted !== null) return wantedIdentity(attributes, wanted, counted);
  const rows = sample.rows.length;
  const candidates = attributes
    .filter(
      (attribute) =>
        attribute.index !== null &&
        IDENTIFYING.includes(attribute.type) &&
        attribute.filled >= rows * (1 - MOST_INCOMPLETE),
    )
    .filter((attribute) => attribute.type !== 'number' && attribute.longest <= 200)
    .sort((a, b) => idRank(a) - idRank(b) || Number(a.type !== 'string') - Number(b.type !== 'string'));
  for (const chosen of identityOptions(candidates, counted)) {
    const names = chosen.map(({ name }) => name);
    const counts = counted(chosen);
    if (chosen.length === 0 || counts.repeated > 0 || refused.has(names.join('\n'))) continue;
    const together = `no column is unique; ${names.join(' and ')} together are`;
    return { attributes: names, ...counts, reason: names.length > 1 ? together : `${names[0]} is unique and filled` };
  }
  // No other choice is left: of rows with one identity the first counts.
  const [repeated] = refused;
  if (repeated === undefined) throw noIdentity(candidates, counted, rows);
  const chosen = attributes.filter(({ name }) => repeated.split('\n').includes(name));
  return { attributes: chosen.map(({ name }) => name), ...counted(chosen), reason: 'the first row of each counts' };
}

/** Columns that may identify a record, best first. */
function* identityOptions(
  candidates: readonly AttributeProposal[],
  counted: (chosen: readonly AttributeProposal[]) => KeyCounts,
): Generator<readonly AttributeProposal[]> {
  const singles = candidates.map((attribute) => [attribute]);
  yield* singles.filter(([attribute]) => idRank(attribute!) < ID_NAMES.length || attribute!.type === 'string');
  yield* pairs(candidates);
  // Unique by chance, as numbers of a small file are.
  yield* singles;
  // Counts and amounts change from file to file.
  const lasting = candidates.filter(({ type }) => type !== 'integer');
  for (const pool of [lasting, candidates]) yield severalThatIdentify(pool, counted);
}

/** Most columns of an identity. */
const MOST_PARTS = 6;

/** Columns that are unique together if any are, each the one with the most different values. */
function severalThatIdentify(
  candidates: readonly AttributeProposal[],
  counted: (chosen: readonly AttributeProposal[]) => KeyCounts,
): AttributeProposal[] {
  const chosen: AttributeProposal[] = [];
  let repeated = Number.POSITIVE_INFINITY;
  while (chosen.length < MOST_PARTS) {
    const rest = candidates.slice(0, PAIRED).filter((attribute) => !chosen.includes(attribute));
    const scored = rest.map((attribute) => ({ attribute, repeated: counted([...chosen, attribute]).repeated }));
    const best = scored.sort((a, b) => a.repeated - b.repeated)[0];
    if (best === undefined || best.repeated === repeated) break;
    chosen.push(best.attribute);
    repeated = best.repeated;
    if (repeated === 0) break;
  }
  return chosen;
}

/** Reason of an identity that the publisher chose. */
export const CHOSEN_IDENTITY = 'chosen with --identity';

function wantedIdentity(
  attributes: readonly AttributeProposal[],
  wanted: readonly string[],
  counted: (chosen: readonly AttributeProposal[]) => KeyCounts,
): IdentityChoice {
  const chosen = wanted.map((text) => {
    const attribute = attributes.find(
      (attributeProposal) => attributeProposal.name === text || attributeProposal.columns.includes(text),
    );
    if (attribute?.index != null && IDENTIFYING.includes(attribute.type)) return attribute;
    const able = attributes
      .filter((attributeProposal) => IDENTIFYING.includes(attributeProposal.type))
      .map(({ name }) => name);
    throw new ProposalError(
      attribute === undefined
        ? `--identity: there is no column '${text}'; possible are ${able.slice(0, 30).join(', ')}`
        : `--identity: '${text}' is of type ${attribute.type}; possible are ${able.slice(0, 30).join(', ')}`,
    );
  });
  return { attributes: chosen.map(({ name }) => name), ...counted(chosen), reason: CHOSEN_IDENTITY };
}

/** Pairs of columns that are tried: enough for files with many columns. */
const PAIRED = 12;

/** Pairs, those with the best names first. */
function pairs(candidates: readonly AttributeProposal[]): [AttributeProposal, AttributeProposal][] {
  // Columns named as ids first, then in the order of the file.
  const isId = (attributeProposal: AttributeProposal) => idRank(attributeProposal) < STRONG_IDS;
  const few = [...candidates]
    .sort((a, b) => Number(isId(b)) - Number(isId(a)) || (a.index ?? 0) - (b.index ?? 0))
    .slice(0, PAIRED);
  const all = few.flatMap((a, i) => few.slice(i + 1).map((b): [AttributeProposal, AttributeProposal] => [a, b]));
  // Two columns with few values cannot tell all rows apart.
  return all.filter(([a, b]) => a.distinct * b.distinct >= Math.max(a.filled, b.filled));
}

function noIdentity(
  candidates: readonly AttributeProposal[],
  counted: (chosen: readonly AttributeProposal[]) => KeyCounts,
  rows: number,
): ProposalError {
  const best = candidates
    .map((candidate) => ({ name: candidate.name, repeated: counted([candidate]).repeated }))
    .sort((a, b) => a.repeated - b.repeated)
    .slice(0, 3);
  const listed = best.map(({ name, repeated }) => `${name} (${repeated.toLocaleString('en-US')} rows repeat a value)`);
  const situation = listed.length === 0 ? 'no column is filled in every row' : `the best are ${listed.join(', ')}`;
  return new ProposalError(
    `no column and no pair of columns identifies each of the ${rows.toLocaleString('en-US')} rows: ${situation}. ` +
      'Remove the duplicates, or name the columns with --identity a,b,c; of rows with one identity the first counts',
  );
}

const NAME = /(^|[_.])(name|title|titel|bezeichnung|label|nom|nombre)$/;
const PROMINENCE =
  /(^|[_.])(population|einwohner|stars|visitors|besucher|downloads|citations|views|followers|employees|mitarbeiter|revenue|popularity|votes|reviews|prominence)([_.]|$)/;

/** The attribute that names a record; null when its identity does. */
function chooseName(attributes: readonly AttributeProposal[], identity: readonly string[]): string | null {
  const texts = attributes.filter((attribute) => attribute.type === 'string' && NAME.test(attribute.name));
  const exact = texts.find((attributeProposal) =>
    /^(?:.*\.)?(name|title|titel|bezeichnung|label|nom|nombre)$/.test(attributeProposal.name),
  );
  const best = exact ?? texts.sort((a, b) => b.distinct - a.distinct)[0];
  return best === undefined || (identity.length === 1 && identity[0] === best.name) ? null : best.name;
}

/** The attribute whose values group records; null when no attribute has 2 to 200 values that repeat. */
function chooseGroup(
  attributes: readonly AttributeProposal[],
  rows: number,
  identity: readonly string[],
): string | null {
  const scored = attributes
    .filter(
      (attribute) => ['enum', 'string', 'boolean', 'integer'].includes(attribute.type) && attribute.index !== null,
    )
    .filter((attribute) => attribute.distinct >= 2 && attribute.distinct <= 200 && attribute.distinct <= rows / 2)
    .filter((attribute) => !(identity.length === 1 && identity[0] === attribute.name) && attribute.filled >= rows / 2)
    .map((attribute) => {
      const kind = { enum: 3, string: 2, boolean: 1 }[attribute.type as string] ?? 0;
      return {
        each: attribute,
        score: kind + (namesGroup(attribute.name) ? 3 : 0) + (attribute.distinct > 2 ? 1 : 0) + attribute.filled / rows,
      };
    });
  return scored.sort((a, b) => b.score - a.score)[0]?.each.name ?? null;
}

const MOST_COMPARED = 8;
const MOST_PUBLIC = 5;
const MOST_SEARCHED = 8;

/** Whether the values are codes: no spaces, digits among them, or one length. */
function isCode({ type, name, counts }: AttributeProposal): boolean {
  if (type !== 'string' || NAME.test(name)) return false;
  const texts = [...counts.keys()].slice(0, 200);
  return (
    texts.filter(
      (text) => (!/\s/.test(text) && (/\d/.test(text) || text === text.toUpperCase())) || !/\p{L}/u.test(text),
    ).length >
    texts.length / 2
  );
}

/** Name, group, comparison, public and searchable attributes. */
export function chooseRoles(
  sample: RowSample,
  attributes: readonly AttributeProposal[],
  identity: readonly string[],
): Choices {
  const rows = sample.rows.length;
  const name = chooseName(attributes, identity);
  const group = chooseGroup(attributes, rows, identity);
  const rest = attributes.filter((attribute) => !identity.includes(attribute.name));
  const quantities = rest.filter(
    (attributeProposal) =>
      ['price', 'number', 'integer'].includes(attributeProposal.type) &&
      !ID_NAMES.slice(0, STRONG_IDS).some((id) => id.test(attributeProposal.name)),
  );
  const compared = [
    ...quantities,
    ...rest.filter((attributeProposal) => attributeProposal.type === 'enum' || attributeProposal.type === 'boolean'),
  ];
  const prominence =
    quantities.find((quantity) => quantity.type !== 'price' && PROMINENCE.test(quantity.name))?.name ?? null;
  const always = new Set([
    ...identity,
    name,
    group,
    prominence,
    ...rest.filter(({ type }) => type === 'geo').map((attributeProposal) => attributeProposal.name),
  ]);
  const order = ['enum', 'boolean', 'string', 'strings', 'url', 'date', 'datetime', 'integer', 'number'];
  const more = rest
    .filter(
      (attributeProposal) =>
        !always.has(attributeProposal.name) &&
        order.includes(attributeProposal.type) &&
        attributeProposal.filled >= rows / 2,
    )
    .sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type))
    .slice(0, MOST_PUBLIC);
  const searched = [
    ...attributes.filter((attribute) => attribute.name === name),
    ...attributes.filter((attribute) => attribute.name !== name && attribute.type === 'string' && !isCode(attribute)),
    ...attributes.filter((attribute) => attribute.type === 'strings' || attribute.type === 'text'),
  ].slice(0, MOST_SEARCHED);
  return {
    name,
    group,
    prominence,
    compare: compared.slice(0, MOST_COMPARED).map((attributeProposal) => attributeProposal.name),
    public: attributes
      .filter((attribute) => always.has(attribute.name) || more.includes(attribute))
      .map((attribute) => attribute.name),
    searchable: searched.map((attributeProposal) => attributeProposal.name),
  };
}
