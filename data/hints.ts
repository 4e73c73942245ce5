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

/** Who is told: the hint names nothing that facets would withhold from them. */
type Hearer = Asking & { visibility: Visibility; admin: boolean };
type Any = Extract<Predicate, { kind: 'any' }>;

/** Conditions that are looked at one by one, and how many of those are told. */
const [LOOKED_AT, TOLD] = [17, 3];
/** Values among which the nearest is looked for; values that are told where none is near. */
const [KNOWN, COMMON] = [200, 6];

const QUALITY = { key: 'quality', descending: true };

/** Why no record answers a question: the conditions that no record meets, else those without which there would be some. */
export async function whyEmpty(release: Release, input: SearchInput, hearer: Hearer): Promise<string | undefined> {
  const words = input.words.map((word): Predicate => ({ kind: 'words', words: [word], scope: hearer.visibility }));
  const all = [...input.where, ...words];
  const looked = all.slice(0, LOOKED_AT);
  const lone: Predicate[] = [];
  for (const each of looked) if (!(await finds(release, [each], hearer))) lone.push(each);
  if (lone.length > 0) {
    const told = await Promise.all(lone.slice(0, TOLD).map((each) => blame(release, each, hearer)));
    return `${capital(told.join('; '))}.`;
  }
  if (all.length < 2) return undefined;
  const spare: string[] = [];
  for (const each of looked)
    if (
      spare.length < TOLD &&
      (await finds(
        release,
        all.filter((other) => other !== each),
        hearer,
      ))
    )
      spare.push(spelt(each));
  return spare.length > 0
    ? `Each condition finds records, all together none; leave one of these out: ${spare.join(', ')}.`
    : `Each condition finds records, all together none; ask with fewer, such as ${await rarest(release, looked, hearer)} alone.`;
}

/** The condition that fewest records meet: it tells most. */
async function rarest({ engine }: Release, all: Predicate[], asking: Asking): Promise<string> {
  let best = { count: Number.POSITIVE_INFINITY, said: '' };
  for (const each of all) {
    const plan = { where: [each], sort: QUALITY, after: null, limit: 1, total: true };
    const count = (await engine.search(plan, asking)).total ?? 0;
    if (count < best.count) best = { count, said: spelt(each) };
  }
  return best.said;
}

async function finds({ engine }: Release, where: Predicate[], asking: Asking): Promise<boolean> {
  const plan = { where, sort: QUALITY, after: null, limit: 1, total: false };
  return (await engine.search(plan, asking)).ordinals.length > 0;
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
      return 'ids';
    case 'updated_since':
      return `updated_since=${new Date(predicate.at).toISOString()}`;
    case 'min_quality':
      return `min_quality=${predicate.value}`;
  }
}

/** What to say of a condition that no record meets. */
async function blame(release: Release, predicate: Predicate, hearer: Hearer): Promise<string> {
  if (predicate.kind === 'words') return `no record has a word that begins with "${shown(predicate.words.join(' '))}"`;
  if (predicate.kind === 'near') return `no record lies within ${predicate.km} km of ${predicate.lat},${predicate.lng}`;
  const said = `no record has ${spelt(predicate)}`;
  if (predicate.kind !== 'any') return said;
  const attribute = release.pack.attributes.find(({ name }) => name === predicate.attribute);
  if (!attribute) return said;
  const elsewhere = await otherAttribute(release, predicate, hearer);
  if (elsewhere !== null) return `${said}, but ${elsewhere} finds some`;
  const { name, values } = attribute;
  const closed = values?.map(String);
  const known = closed ?? (await knownValues(release, attribute, hearer));
  if (known.length === 0) return said;
  const near = predicate.values.map((value) => nearest(String(value), known));
  const meant = near.filter((value, i) => value !== null && close(fold(String(predicate.values[i])), fold(value)));
  const instead =
    meant.length > 0
      ? `nearest: ${meant.join(', ')}`
      : `${known.length > COMMON ? 'commonest' : 'known'}: ${known.slice(0, COMMON).map(shown).join(', ')}`;
  return `${said}; ${instead}; facets?by=${name} lists them`;
}

/** Values that records have, the commonest first; of what is not public only those that facets tell everybody with a key. */
async function knownValues(
  { engine }: Release,
  attribute: Attribute,
  { admin, visibility: _, ...asking }: Hearer,
): Promise<string[]> {
  if (!counted(attribute)) return [];
  const floor = attribute.public || admin ? 0 : FACET_FLOOR;
  const { values } = await engine.facets({ where: [], by: attribute.name, limit: KNOWN, floor }, asking);
  return values.map(({ value }) => String(value));
}

/** `country_name=germany`, where another public attribute has the value that was looked for in this one. */
async function otherAttribute(release: Release, { attribute, values }: Any, asking: Asking): Promise<string | null> {
  if (!values.every((value) => typeof value === 'string')) return null;
  const others = worded(release.pack).filter((name) => name !== attribute);
  // An attribute of a kindred name is what was meant before any other.
  const kin = (name: string) => Number(name.includes(attribute) || attribute.includes(name));
  for (const name of others.sort((a, b) => kin(b) - kin(a))) {
    const same: Predicate = { kind: 'any', attribute: name, values };
    if (await finds(release, [same], asking)) return spelt(same);
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
