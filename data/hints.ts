// One line beside a page of search: why it is empty, or that its order is not that of fit.
import type { Attribute, Pack } from '../packs/model.ts';
import { fold } from '../packs/text.ts';
import { FACET_FLOOR } from './facets.ts';
import { close, nearest } from './names.ts';
import type { SearchInput } from './parse.ts';
import { counted } from './parse-selection.ts';
import { shown } from './parse-values.ts';
import type { Asking, Predicate, Visibility } from './plan.ts';
import type { Release } from './release.ts';
import { Sparing } from './sparing.ts';

/** Who is told: the hint names nothing that facets would withhold from them. */
type Hearer = Asking & { visibility: Visibility; admin: boolean };
type Any = Extract<Predicate, { kind: 'any' }>;

/** Conditions that are looked at one by one, and how many of those are told. */
const [LOOKED_AT, TOLD] = [6, 3];
/** Values among which the nearest is looked for; values that are told where none is near. */
const [KNOWN, COMMON] = [200, 6];

const QUALITY = { key: 'quality', descending: true };

/**
 * Why no record answers a question: the conditions that no record meets, else those without which there would be some. An empty page is free, so that
 * little is asked for it, words first: of many conditions the first few are looked at.
 */
export async function whyEmpty(release: Release, input: SearchInput, hearer: Hearer): Promise<string | undefined> {
  const words = input.words.map((word): Predicate => ({ kind: 'words', words: [word], scope: hearer.visibility }));
  const all = [...words, ...input.where];
  const asked = new Sparing(release.engine, hearer);
  const looked: Predicate[] = [];
  const lone: Predicate[] = [];
  for (const each of all.slice(0, LOOKED_AT)) {
    if (asked.spent) break;
    looked.push(each);
    if (!(await finds(asked, [each]))) lone.push(each);
  }
  if (lone.length > 0) {
    const told: string[] = [];
    for (const each of lone.slice(0, TOLD)) told.push(await blame(release.pack, asked, each, hearer));
    return `${capital(told.join('; '))}.`;
  }
  if (all.length < 2) return undefined;
  const known =
    looked.length === all.length
      ? 'Each condition finds records, all together none'
      : 'All conditions together find none';
  const spare = await spared(asked, all, looked);
  return spare.length > 0
    ? `${known}; leave one of these out: ${spare.join(', ')}.`
    : `${known}; ask with fewer, such as ${await rarest(asked, looked)} alone.`;
}

/** Some of the conditions without which the others find records. */
async function spared(asked: Sparing, all: Predicate[], looked: Predicate[]): Promise<string[]> {
  const spare: string[] = [];
  for (const each of looked) {
    if (asked.spent || spare.length === TOLD) break;
    const others = all.filter((other) => other !== each);
    if (await finds(asked, others)) spare.push(spelt(each));
  }
  return spare;
}

/** The condition that fewest records meet, of those that can still be counted: it tells most. */
async function rarest(asked: Sparing, looked: Predicate[]): Promise<string> {
  let best = { count: Number.POSITIVE_INFINITY, said: spelt(looked[0]!) };
  for (const each of looked) {
    if (asked.spent) break;
    const plan = { where: [each], sort: QUALITY, after: null, limit: 1, total: true };
    const count = (await asked.search(plan)).total ?? 0;
    if (count < best.count) best = { count, said: spelt(each) };
  }
  return best.said;
}

async function finds(asked: Sparing, where: Predicate[]): Promise<boolean> {
  const plan = { where, sort: QUALITY, after: null, limit: 1, total: false };
  return (await asked.search(plan)).ordinals.length > 0;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A condition as it is written in a request. */
function spelt(predicate: Predicate): string {
  const list = (values: readonly unknown[]) => shown(values.join(','));
  switch (predicate.kind) {
    case 'any':
      return `${predicate.attribute}=${list(predicate.values)}`;
    case 'none':
      return `not_${predicate.attribute}=${list(predicate.values)}`;
    case 'like':
      return `like_${predicate.attribute}=${shown(predicate.needle)}`;
    case 'min':
    case 'max':
      return `${predicate.kind}_${predicate.attribute}=${predicate.value}`;
    case 'has':
      return `has_${predicate.attribute}=${predicate.present}`;
    case 'words':
      return `the word "${list(predicate.words)}" in q`;
    case 'near':
      return `near=${predicate.lat},${predicate.lng},${predicate.km}`;
    case 'ids':
      return `ids=${list(predicate.refs)}`;
    case 'updated_since':
      return `updated_since=${new Date(predicate.at).toISOString()}`;
    case 'min_quality':
      return `min_quality=${predicate.value}`;
  }
}

/** What to say of a condition that no record meets. */
async function blame(pack: Pack, asked: Sparing, predicate: Predicate, hearer: Hearer): Promise<string> {
  if (predicate.kind === 'words') return `no record has a word that begins with "${shown(predicate.words.join(' '))}"`;
  if (predicate.kind === 'near') return `no record lies within ${predicate.km} km of ${predicate.lat},${predicate.lng}`;
  if (predicate.kind === 'ids') return `no record has the id or slug ${shown(predicate.refs.join(' or '))}`;
  const said = `no record has ${spelt(predicate)}`;
  if (predicate.kind !== 'any') return said;
  const attribute = pack.attributes.find(({ name }) => name === predicate.attribute);
  if (!attribute) return said;
  const elsewhere = await otherAttribute(pack, asked, predicate);
  if (elsewhere !== null) return `${said}, but ${elsewhere} finds some`;
  const known = await knownValues(asked, attribute, hearer);
  if (known.length === 0) return [said, ...instead(predicate, listed(predicate, attribute), 'known')].join('; ');
  const told = instead(predicate, known, known.length > COMMON ? 'commonest' : 'known');
  return [said, ...told, `facets?by=${attribute.name} lists them`].join('; ');
}

/** The values nearest to those asked for, else the first few. */
function instead({ values }: Any, known: string[], which: 'commonest' | 'known'): string[] {
  if (known.length === 0) return [];
  const near = values.map((value) => nearest(String(value), known));
  const meant = near.filter((value, i) => value !== null && close(fold(String(values[i])), fold(value)));
  return [
    meant.length > 0 ? `nearest: ${meant.join(', ')}` : `${which}: ${known.slice(0, COMMON).map(shown).join(', ')}`,
  ];
}

/** Values that the pack's closed list has; those that were asked for are known to find nothing. */
function listed({ values }: Any, attribute: Attribute): string[] {
  const wanted = new Set(values.map((value) => fold(String(value))));
  return (attribute.values ?? []).map(String).filter((value) => !wanted.has(fold(value)));
}

/** Values that records have, the commonest first; of what is not public only those that facets tell everybody with a key. */
async function knownValues(asked: Sparing, attribute: Attribute, { admin }: Hearer): Promise<string[]> {
  if (!counted(attribute) || asked.spent) return [];
  const floor = attribute.public || admin ? 0 : FACET_FLOOR;
  const { values } = await asked.facets({ where: [], by: attribute.name, limit: KNOWN, floor });
  return values.map(({ value }) => String(value));
}

/** `country_name=germany`, where another public attribute has the value that was looked for in this one. */
async function otherAttribute(pack: Pack, asked: Sparing, { attribute, values }: Any): Promise<string | null> {
  if (!values.every((value) => typeof value === 'string')) return null;
  const others = worded(pack).filter((name) => name !== attribute);
  // An attribute of a kindred name is what was meant before any other.
  const kin = (name: string) => Number(name.includes(attribute) || attribute.includes(name));
  for (const name of others.sort((a, b) => kin(b) - kin(a))) {
    if (asked.spent) return null;
    const same: Predicate = { kind: 'any', attribute: name, values };
    if (await finds(asked, [same])) return spelt(same);
  }
  return null;
}

const worded = ({ attributes }: Pack): string[] =>
  attributes
    .filter((each) => each.public && each.filterable && ['string', 'enum', 'strings'].includes(each.type))
    .map(({ name }) => name);

/** That words were asked for and the order is another than that of fit, where it matters: more records match than are shown. */
export function orderHint(pack: Pack, input: SearchInput): string | undefined {
  if (input.words.length === 0 || input.ordered) return undefined;
  const { prominence } = pack.serving;
  const named = pack.attributes.some(
    ({ name, type, filterable }) => name === 'name' && type === 'string' && filterable,
  );
  const ways = [
    prominence === null ? 'sort orders them otherwise' : `sort=-${prominence} puts the best known first`,
    ...(named && !input.where.some((each) => 'attribute' in each && each.attribute === 'name')
      ? ['name=<name> keeps those of just that name']
      : []),
  ];
  return `In the order of quality, not of fit: ${ways.join(', ')}.`;
}
