// Counts over the published values of a release, for its manifest.
import type { Manifest } from '../../data/model/layout.ts';
import { isoTime } from '../../data/model/time.ts';
import type { SettledValue } from '../../data/write/record.ts';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';

/** Values of an open enum in the manifest. */
const MOST = 500;

type Counts<K> = Map<string, Map<K, number>>;

export class ValueTally {
  /**
   * By attribute: number of values by confirmation time, and by value for open enums. Can be sent between
   * threads.
   */
  readonly counts: { ages: Counts<number>; enums: Counts<string> } = { ages: new Map(), enums: new Map() };

  add(attribute: Attribute, { value, observed_at }: SettledValue): void {
    count(this.counts.ages, attribute.name, observed_at, 1);
    if (attribute.type === 'enum' && attribute.values === null)
      count(this.counts.enums, attribute.name, value as string, 1);
  }

  /** Adds the counts of another tally. */
  addCounts({ ages, enums }: ValueTally['counts']): void {
    for (const [name, counts] of ages) for (const [at, n] of counts) count(this.counts.ages, name, at, n);
    for (const [name, counts] of enums) for (const [value, n] of counts) count(this.counts.enums, name, value, n);
  }

  /** Ages in the order of the pack's attributes, oldest first; values of open enums, most common first. */
  manifestCounts(pack: Pack): Pick<Manifest, 'ages' | 'enums'> {
    const ages = pack.attributes.flatMap(({ name }) =>
      [...(this.counts.ages.get(name) ?? [])]
        .sort(([a], [b]) => a - b)
        .map(([at, n]) => ({ attribute: name, observed_at: isoTime(at), count: n })),
    );
    const enums: Manifest['enums'] = {};
    for (const { name, type, values } of pack.attributes) {
      if (type !== 'enum' || values !== null) continue;
      const entries = [...(this.counts.enums.get(name) ?? [])].sort(([a, m], [b, n]) => n - m || byCodePoint(a, b));
      enums[name] = entries.slice(0, MOST).map(([value]) => value);
    }
    return { ages, enums };
  }
}

function count<K>(counts: Counts<K>, name: string, key: K, n: number): void {
  let valueCounts = counts.get(name);
  if (valueCounts === undefined) {
    valueCounts = new Map();
    counts.set(name, valueCounts);
  }
  valueCounts.set(key, (valueCounts.get(key) ?? 0) + n);
}
