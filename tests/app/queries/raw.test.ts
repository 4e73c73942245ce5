// Records as bytes equal records as objects, to the byte.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type PresentOptions, presentRecord } from '../../../data/queries/present.ts';
import { pageJson, pageRecords, type RecordList } from '../../../data/queries/record-page.ts';
import { getRecord } from '../../../data/queries/records.ts';
import { openRelease } from '../../../data/releases/release.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { randomOverlay } from '../../support/random-overlay.ts';
import { randomRecords } from '../../support/random-records.ts';
import { writeRelease } from '../../support/write-release.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'raw-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test.each(['tools', 'harbours'])('%s', async (dataset) => {
  const pack = await loadPack(join(import.meta.dirname, '../../packs', dataset));
  const records = randomRecords(pack, 100, 5).map((record, i) => ({
    ...record,
    name: i % 5 === 0 ? 'quoted " and \\ and ","dataset":" and @@slug@@' : i % 7 === 0 ? 'Zürich 東京 😀' : record.name,
  }));
  const { release: id } = await writeRelease(dataDir, pack, records);
  const release = await openRelease(dataDir, pack, id);
  const { applied, records: overlaid } = randomOverlay(pack, records, 5);
  const underOverlay = { ...release, engine: release.engine.withOverlay(applied) };
  // Two moments of one minute and one of the next: ages are cached for a minute at most.
  for (const time of ['2026-11-20T00:00:01Z', '2026-11-20T00:00:59Z', '2026-11-20T00:01:00Z', '2027-01-01T00:00:00Z']) {
    const presenting: PresentOptions = { now: new Date(time), base_url: 'https://r.example', visibility: 'full' };
    for (const record of records) {
      const found = await getRecord(release, record.id, presenting);
      expect(found.json(presenting)?.toString()).toBe(JSON.stringify(presentRecord(record, pack, presenting)));
      expect(found.updated_at).toBe(record.updated_at);
      expect(found.version).toMatch(/^[0-9a-f]{16}$/);
    }
    expect(overlaid.filter((record) => !records.includes(record)).length).toBeGreaterThan(5);
    for (const record of overlaid) {
      const found = await getRecord(underOverlay, record.id, presenting);
      expect(found.json(presenting)?.toString()).toBe(JSON.stringify(presentRecord(record, pack, presenting)));
      expect(found.updated_at).toBe(record.updated_at);
    }
    const lists: Pick<RecordList, 'ordinals' | 'members'>[] = [
      { ordinals: [] },
      { ordinals: [3] },
      { ordinals: [5, 0, 99, 5] },
      { ordinals: [7, 20], members: [{ score: 1 }, { score: 0.000001 }] },
      { ordinals: [2, 9], members: [{ distance_km: 0 }, { distance_km: 20015.115 }] },
      { ordinals: [2, 2], members: [{ group: { tags: 'a"' } }, { distance_km: 1, group: { tags: 'b' } }] },
    ];
    for (const list of lists) {
      for (const view of [release, underOverlay])
        for (const fields of [null, [], ['name'], pack.attributes.map(({ name }) => name)]) {
          const found = { release: view, fields, ...list };
          const items = await pageRecords(found, presenting);
          for (const members of [{}, { next_cursor: null, total: undefined, license: '"' }])
            expect(Buffer.concat(pageJson(found, members, presenting)?.parts ?? []).toString()).toBe(
              JSON.stringify({ items, ...members }),
            );
        }
    }
    expect(pageJson({ release, ordinals: [1], fields: null }, {}, { ...presenting, visibility: 'public' })).toBeNull();
  }
  await release.engine.close();
});
