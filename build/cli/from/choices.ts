// Choices over all attributes: identity, name, group, comparison, what is public and searched.
import { foldKey } from '../../../packs/define/text.ts';
import { cellText } from './column.ts';
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
  /^(url|link|website|homepage)$/,
  /^(name|title|titel|bezeichnung|label|nom|nombre)$/,
  /(^|[_.])(name|title|titel)$/,
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
 * pair. Throws ProposalError, with the duplicates of the best columns, when there is none.
 */
export function chooseIdentity(
  sample: RowSample,
  attributes: readonly AttributeProposal[],
  wanted: readonly string[] | null,
): IdentityChoice {
  const skip = repeatedRows(sample);
  const counted = (chosen: readonly AttributeProposal[]) => countKeys(keysOf(sample, chosen), skip);
  if (wanted !== null) return wantedIdentity(attributes, wanted, counted);
  const rows = sample.rows.length;
  const candidates = attributes
    .filter(
      (each) => each.index !== null && IDENTIFYING.includes(each.type) && each.filled >= rows * (1 - MOST_INCOMPLETE),
    )
    .filter((each) => each.type !== 'number' && each.longest <= 200)
    .sort((a, b) => idRank(a) - idRank(b) || Number(a.type !== 'string') - Number(b.type !== 'string'));
  const unique = ({ repeated }: KeyCounts) => repeated === 0;
  const named = candidates.filter((each) => idRank(each) < ID_NAMES.length);
  const texts = candidates.filter((each) => idRank(each) === ID_NAMES.length && each.type === 'string');
  for (const each of [...named, ...texts]) {
    const counts = counted([each]);
    if (unique(counts)) return { attributes: [each.name], ...counts, reason: `${each.name} is unique and filled` };
  }
  for (const pair of pairs(candidates)) {
    const counts = counted(pair);
    if (!unique(counts)) continue;
    const reason = `no column is unique; ${pair.map(({ name }) => name).join(' and ')} together are`;
    return { attributes: pair.map(({ name }) => name), ...counts, reason };
  }
  // Unique by chance, as numbers of a small file are.
  const number = candidates.find((each) => unique(counted([each])));
  if (number !== undefined)
    return { attributes: [number.name], ...counted([number]), reason: `${number.name} is unique and filled` };
  throw noIdentity(candidates, counted, rows);
}

function wantedIdentity(
  attributes: readonly AttributeProposal[],
  wanted: readonly string[],
  counted: (chosen: readonly AttributeProposal[]) => KeyCounts,
): IdentityChoice {
  const chosen = wanted.map((text) => {
    const found = attributes.find((each) => each.name === text || each.columns.includes(text));
    if (found?.index != null && IDENTIFYING.includes(found.type)) return found;
    const able = attributes.filter((each) => IDENTIFYING.includes(each.type)).map(({ name }) => name);
    throw new ProposalError(
      found === undefined
        ? `--identity: there is no column '${text}'; possible are ${able.slice(0, 30).join(', ')}`
        : `--identity: '${text}' is of type ${found.type}; possible are ${able.slice(0, 30).join(', ')}`,
    );
  });
  return { attributes: chosen.map(({ name }) => name), ...counted(chosen), reason: 'chosen with --identity' };
}

/** Pairs of columns that are tried: enough for files with many columns. */
const PAIRED = 12;

/** Pairs, those with the best names first. */
function pairs(candidates: readonly AttributeProposal[]): [AttributeProposal, AttributeProposal][] {
  // Columns named as ids first, then in the order of the file.
  const isId = (each: AttributeProposal) => idRank(each) < STRONG_IDS;
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
    .map((each) => ({ name: each.name, repeated: counted([each]).repeated }))
    .sort((a, b) => a.repeated - b.repeated)
    .slice(0, 3);
  const listed = best.map(({ name, repeated }) => `${name} (${repeated.toLocaleString('en-US')} rows repeat a value)`);
  const found = listed.length === 0 ? 'no column is filled in every row' : `the best are ${listed.join(', ')}`;
  return new ProposalError(
    `no column and no pair of columns identifies each of the ${rows.toLocaleString('en-US')} rows: ${found}. ` +
      'Remove the duplicates, or name the columns with --identity a,b,c; of rows with one identity the first counts',
  );
}

const NAME = /(^|[_.])(name|title|titel|bezeichnung|label|nom|nombre)$/;
const GROUP =
  /(^|[_.])(category|kategorie|type|typ|kind|art|group|gruppe|class|klasse|country|land|region|state|brand|marke|city|stadt|ort|town|sector|branche|genre|department)([_.]|$)/;
const PROMINENCE =
  /(^|[_.])(population|einwohner|stars|visitors|besucher|downloads|citations|views|followers|employees|mitarbeiter|revenue|popularity|votes|reviews|prominence)([_.]|$)/;

/** The attribute that names a record; null when its identity does. */
function chooseName(attributes: readonly AttributeProposal[], identity: readonly string[]): string | null {
  const texts = attributes.filter((each) => each.type === 'string' && NAME.test(each.name));
  const exact = texts.find((each) => /^(?:.*\.)?(name|title|titel|bezeichnung|label|nom|nombre)$/.test(each.name));
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
    .filter((each) => ['enum', 'string', 'boolean', 'integer'].includes(each.type) && each.index !== null)
    .filter((each) => each.distinct >= 2 && each.distinct <= 200 && each.distinct <= rows / 2)
    .filter((each) => !(identity.length === 1 && identity[0] === each.name) && each.filled >= rows / 2)
    .map((each) => {
      const kind = { enum: 3, string: 2, boolean: 1 }[each.type as string] ?? 0;
      return { each, score: kind + (GROUP.test(each.name) ? 3 : 0) + (each.distinct > 2 ? 1 : 0) + each.filled / rows };
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
  const rest = attributes.filter((each) => !identity.includes(each.name));
  const quantities = rest.filter(
    (each) =>
      ['price', 'number', 'integer'].includes(each.type) &&
      !ID_NAMES.slice(0, STRONG_IDS).some((id) => id.test(each.name)),
  );
  const compared = [...quantities, ...rest.filter((each) => each.type === 'enum' || each.type === 'boolean')];
  const prominence = quantities.find((each) => each.type !== 'price' && PROMINENCE.test(each.name))?.name ?? null;
  const always = new Set([
    ...identity,
    name,
    group,
    prominence,
    ...rest.filter(({ type }) => type === 'geo').map((each) => each.name),
  ]);
  const order = ['enum', 'boolean', 'string', 'strings', 'url', 'date', 'datetime', 'integer', 'number'];
  const more = rest
    .filter((each) => !always.has(each.name) && order.includes(each.type) && each.filled >= rows / 2)
    .sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type))
    .slice(0, MOST_PUBLIC);
  const searched = [
    ...attributes.filter((each) => each.name === name),
    ...attributes.filter((each) => each.name !== name && each.type === 'string' && !isCode(each)),
    ...attributes.filter((each) => each.type === 'strings' || each.type === 'text'),
  ].slice(0, MOST_SEARCHED);
  return {
    name,
    group,
    prominence,
    compare: compared.slice(0, MOST_COMPARED).map((each) => each.name),
    public: attributes.filter((each) => always.has(each.name) || more.includes(each)).map((each) => each.name),
    searchable: searched.map((each) => each.name),
  };
}
