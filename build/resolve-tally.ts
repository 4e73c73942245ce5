// Counts over the published values of a release, for its manifest.
import type { Manifest } from '../data/layout.ts';
import { isoTime } from '../data/time.ts';
import type { SettledValue } from '../data/write/record.ts';
import type { Attribute, Pack } from '../packs/model.ts';
import { byCodePoint } from '../packs/text.ts';

/** Values of an open enum that the manifest lists. */
const MOST = 500;

export class Tally {
  readonly #ages = new Map<string, Map<number, number>>();
  readonly #enums = new Map<string, Map<string, number>>();

  add(attribute: Attribute, { value, observed_at }: SettledValue): void {
    count(this.#ages, attribute.name, observed_at);
    if (attribute.type === 'enum' && attribute.values === null) count(this.#enums, attribute.name, value as string);
  }

  /** Ages in the order of the pack's attributes, oldest first; values of open enums, most common first. */
  told(pack: Pack): Pick<Manifest, 'ages' | 'enums'> {
    const ages = pack.attributes.flatMap(({ name }) =>
      [...(this.#ages.get(name) ?? [])]
        .sort(([a], [b]) => a - b)
        .map(([at, n]) => ({ attribute: name, observed_at: isoTime(at), count: n })),
    );
    const enums: Manifest['enums'] = {};
    for (const { name, type, values } of pack.attributes) {
      if (type !== 'enum' || values !== null) continue;
      const found = [...(this.#enums.get(name) ?? [])].sort(([a, m], [b, n]) => n - m || byCodePoint(a, b));
      enums[name] = found.slice(0, MOST).map(([value]) => value);
    }
    return { ages, enums };
  }
}

function count<K>(counts: Map<string, Map<K, number>>, name: string, key: K): void {
  const known = counts.get(name) ?? new Map<K, number>();
  counts.set(name, known.set(key, (known.get(key) ?? 0) + 1));
}
