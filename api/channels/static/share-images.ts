// Open Graph images of records, `/og/{ds}/{slug}.png`: drawn on demand from public values, free and rate
// limited. The nightly run writes those of datasets.
import { BoundedCache } from '../../../data/model/bounded-cache.ts';
import { DataError } from '../../../data/model/errors.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { type Release, releaseTag } from '../../../data/releases/release.ts';
import { ApiError } from '../../contract/errors.ts';
import { CACHING } from '../../discovery/hosting.ts';
import { etagOf, isUnchanged } from '../../http/conditions.ts';
import type { Http } from '../../http/request.ts';
import { loadSources } from '../../operations/common/related.ts';
import { recordImage } from '../../pages/record-image.ts';
import { publicPageRecord } from '../../pages/record-markdown.ts';
import { imageThread } from '../../pages/share-image-thread.ts';
import type { App, RestDeps } from '../rest/rest.ts';
import { answerFree } from './download.ts';

/** Bytes of all stored images: some 600. */
const STORED = 16 << 20;
/** Images that may wait for the thread; further requests get 503. */
const WAITING = 16;

type Png = Uint8Array<ArrayBuffer>;

/** Mounts the route. */
export function mountShareImages(app: App, deps: RestDeps): void {
  const { gate } = deps;
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

  app.get('/og/:ds/:name', (c: Http) =>
    answerFree(deps, c, '', async ({ headers }) => {
      const { ds = '', name = '' } = c.req.param();
      const leases = await gate.lease(ds);
      try {
        if (leases.release === undefined || !name.endsWith('.png')) throw new ApiError('not_found', 'Not found.');
        const png = await image(leases.release, name.replace(/\.png$/, '').toLowerCase());
        const tag = etagOf(png);
        const sent = { ...headers, 'Cache-Control': CACHING.asked_again, 'Content-Type': 'image/png', ETag: tag };
        if (isUnchanged(c, { tag, last_modified: undefined }))
          return new Response(null, { status: 304, headers: sent });
        return new Response(png, { headers: { ...sent, 'Content-Length': String(png.length) } });
      } finally {
        leases.done();
      }
    }),
  );
}
