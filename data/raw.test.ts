// Full records as bytes say what presented records say.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadPack } from '../packs/index.ts';
import { randomRecords } from '../tests/random-records.ts';
import { writeRelease } from '../tests/write-release.ts';
import { present } from './present.ts';
import { rawRecord } from './raw.ts';
import { openRelease } from './release.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'raw-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test.each(['tools', 'harbours'])('%s', async (dataset) => {
  const pack = await loadPack(join(import.meta.dirname, '../tests/packs', dataset));
  const records = randomRecords(pack, 100, 5).map((record, i) => ({
    ...record,
    name: i % 5 === 0 ? 'quoted " and \\ and ","dataset":" and @@slug@@' : record.name,
  }));
  const { release } = await writeRelease(dataDir, pack, records);
  const open = await openRelease(dataDir, pack, release);
  // Two moments of one minute and one of the next: ages are kept for a minute, and never longer.
  for (const time of ['2026-11-20T00:00:01Z', '2026-11-20T00:00:59Z', '2026-11-20T00:01:00Z', '2027-01-01T00:00:00Z']) {
    const now = new Date(time);
    for (const [ordinal, record] of records.entries()) {
      const raw = rawRecord(open, ordinal, now, 'https://r.example');
      const presented = present(record, pack, { now, base_url: 'https://r.example', visibility: 'full' });
      expect(Buffer.concat(raw?.json ?? []).toString()).toBe(JSON.stringify(presented));
      expect(raw?.updated_at).toBe(record.updated_at);
      expect(raw?.version).toMatch(/^[0-9a-f]{16}$/);
    }
  }
  await open.engine.close();
});
