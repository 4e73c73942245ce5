// The Open Graph image of a record: its name, its dataset, and up to three public values with their sources.
import type { PublicRecord } from '../../data/model/record.ts';
import type { Pack } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';
import { distinctionOf } from '../render/distinction.ts';
import { printDate, printWithUnit, webAddress } from '../render/print.ts';
import type { RelatedData } from './related-data.ts';
import { drawable, type ShareImage } from './share-image.ts';

const VALUES = 3;
/** Longer values are not worth a line. */
const LONGEST = 60;

/** `record` has public values only; `sources` are the titles of their sources. */
export function recordImage(record: PublicRecord, pack: Pack, sources: RelatedData['sources']): ShareImage {
  const detail = distinctionOf(pack, record);
  const shown = new Set([record.name, ...detail.split(' · ')].map(fold));
  const names = [...pack.compare, ...pack.attributes.map(({ name }) => name)];
  const values = [...new Set(names)].flatMap((name) => {
    const attribute = pack.attributes.find((each) => each.name === name);
    const [value, provenance] = [record.attributes[name], record.provenance[name]];
    if (!attribute?.public || value === undefined || provenance === undefined) return [];
    const printed = printWithUnit(value, attribute.unit);
    const text = drawable(printed);
    if (text === '' || text.length > LONGEST || shown.has(fold(printed)) || webAddress(printed) !== null) return [];
    return [{ label: name, value: text, origin: origin(provenance, sources[name]) }];
  });
  return {
    kicker: drawable(`${pack.title} · Dataset Register`),
    title: drawable(record.name, record.slug),
    detail: drawable(detail),
    values: values.slice(0, VALUES),
  };
}

function origin({ source, source_url, observed_at }: PublicRecord['provenance'][string], title?: string): string {
  const address = webAddress(source_url);
  const host = address === null ? 'no web page' : new URL(address).hostname.replace(/^www\./, '');
  const name = source.kind === 'owner' ? 'verified owner' : (title ?? host);
  return drawable(`${name}, checked ${printDate(observed_at)}`);
}
