// Open Graph images of records, `/og/{ds}/{slug}.png`: drawn on demand from public values, free and rate
// limited. The nightly run writes those of datasets.
import { BoundedCache } from '../../../data/model/bounded-cache.ts';
import { DataError } from '../../../data/model/errors.ts';
import type { PublicRecord, StoredRecord } from '../../../data/model/record.ts';
import { type Release, releaseTag } from '../../../data/releases/release.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { fold } from '../../../packs/define/text.ts';
import { ApiError } from '../../contract/errors.ts';
import { CACHING } from '../../discovery/hosting.ts';
import type { CallDeps } from '../../gate/execute.ts';
import type { RouteTable } from '../../http/server.ts';
import { loadSources } from '../../operations/common/related.ts';
import { publicPageRecord } from '../../pages/record-markdown.ts';
import type { RelatedData } from '../../pages/related-data.ts';
import { drawable, type ShareImage } from '../../pages/share-image.ts';
import { imageThread } from '../../pages/share-image-thread.ts';
import { distinctionOf } from '../../render/distinction.ts';
import { printDate, printWithUnit, webAddress } from '../../render/print.ts';

/** Bytes of all stored images: some 600. */
const STORED = 16 << 20;
/** Images that may wait for the thread; further requests get 503. */
const WAITING = 16;

type Png = Uint8Array<ArrayBuffer>;

/** The route of the images. */
export function shareImagesTable(gate: CallDeps): RouteTable {
  const thread = imageThread();
  // The key contains the release and its overlay, so that an opt-out or an edit takes effect at once.
  const images = new BoundedCache<string, Png>('share images', { most: STORED, sizeOf: ({ length }) => length });
  const drawing = new Map<string, Promise<Png>>();

  const draw = async (release: Release, ref: string): Promise<Png> => {
    const { engine, pack } = release;
    const [ordinal] = await engine.resolve([ref]);
    if (ordinal === null || ordinal === undefined)
      throw new DataError('unknown_entity', 'There is no record at this address.');
    const [body] = await engine.bodies([ordinal]);
    const stored = JSON.parse(body!.body) as StoredRecord;
    const sources = await loadSources(release, stored.id, {});
    return thread.draw(recordImage(publicPageRecord(stored, pack, gate.base_url), pack, sources));
  };

  const image = async (release: Release, ref: string): Promise<Png> => {
    const key = [release.pack.id, releaseTag(release), ref].join(' ');
    const stored = images.get(key);
    if (stored !== undefined) return stored;
    const begun = drawing.get(key);
    if (begun !== undefined) return begun;
    if (thread.waiting >= WAITING)
      throw new ApiError('unavailable', 'Too many images are being drawn.', { retry_after_seconds: 5 });
    const made = draw(release, ref).finally(() => drawing.delete(key));
    drawing.set(key, made);
    images.set(key, await made);
    return made;
  };

  return {
    policy: { caching: CACHING.asked_again },
    routes: {
      'GET /og/:ds/:name': async ({ params: { ds = '', name = '' } }) => {
        const leases = await gate.lease(ds);
        try {
          if (leases.release === undefined || !name.endsWith('.png')) throw new ApiError('not_found', 'Not found.');
          const png = await image(leases.release, name.replace(/\.png$/, '').toLowerCase());
          return { document: png, type: 'image/png' };
        } finally {
          leases.done();
        }
      },
    },
  };
}

const VALUES = 3;
/** Longer values are not worth a line. */
const LONGEST = 60;

/** Name, dataset, and up to three public values: `record` has no others. `sources` are the titles of their sources. */
function recordImage(record: PublicRecord, pack: Pack, sources: RelatedData['sources']): ShareImage {
  const detail = distinctionOf(pack, record);
  const shown = new Set([record.name, ...detail.split(' · ')].map(fold));
  const names = [...pack.compare, ...pack.attributes.map(({ name }) => name)];
  const values = [...new Set(names)].flatMap((name) => {
    const attribute = pack.attributes.find((candidate) => candidate.name === name);
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
