// Days of times with offsets: a date is the day as written, and one that becomes a datetime is read again.

import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { datasetNight } from '../../../build/night/dataset.ts';
import { Duck, quotedText } from '../../../data/duckdb/duck.ts';
import { paths } from '../../../data/model/layout.ts';
import { currentRelease } from '../../../data/model/manifest.ts';
import type { Attribute, Pack } from '../../../packs/define/model.ts';
import { csv, DeclaredSourceShape } from '../../../packs/define/sources.ts';
import { scratch, still, stonesPack } from '../../support/night-pack.ts';

/** A dataset with the attribute `cut` from a CSV file, and its nights. */
function stage() {
  const folder = scratch();
  const base = stonesPack(folder, { shop: { '01-01': [] } });
  const seen = base.attributes.find(({ name }) => name === 'seen')!;
  const pack = (type: 'date' | 'datetime', revision: number): Pack => {
    const cut: Attribute = { ...seen, name: 'cut', type, once: false, public: true, filterable: true };
    const from = DeclaredSourceShape.parse(csv('stones.csv', { attributes: { name: 'name' } }));
    return {
      ...base,
      revision,
      attributes: [...base.attributes, cut],
      collector: { read: ({ rows }) => rows! },
      sources: base.sources.map((source) => ({ ...source, pins: [], from })),
    };
  };
  let day = 0;
  return {
    /** A night with these cells, by record. */
    async night(cells: readonly string[], type: 'date' | 'datetime' = 'date', revision = 1) {
      day += 2;
      const path = join(folder, 'stones.csv');
      writeFileSync(path, `code,name,cut\n${cells.map((cell, i) => `s${i},Stone ${i},${cell}\n`).join('')}`);
      utimesSync(path, new Date(Date.UTC(2026, 10, day)), new Date(Date.UTC(2026, 10, day)));
      return datasetNight(
        pack(type, revision),
        folder,
        still(`2026-11-${String(day + 1).padStart(2, '0')}T00:00:00Z`),
        {
          accept: false,
        },
      );
    },
    /** Rows of a file of the release about `cut`. */
    async rows(file: string, columns: string) {
      const release = paths.release(folder, 'stones', (await currentRelease(folder, 'stones'))!);
      const duck = await Duck.open(join(folder, 'spill'));
      const from = quotedText(join(release, file));
      const rows = await duck.rows(`SELECT ${columns} FROM read_parquet(${from}) WHERE attribute = 'cut'`);
      duck.close();
      return rows.map((row) => row.map(String).join(' ')).sort();
    },
  };
}

const WRITTEN = Array.from({ length: 240 }, () => '2024-03-15T00:30:00+02:00');

test('a date that becomes a datetime is read again', async () => {
  const { night, rows } = stage();
  await night(WRITTEN);
  expect(await rows('history.parquet', 'DISTINCT value')).toEqual(['"2024-03-15"']);
  expect(await night(WRITTEN, 'datetime', 2)).toMatchObject({ outcome: 'released' });
  expect(await rows('history.parquet', 'DISTINCT value')).toEqual(['"2024-03-14T22:30:00Z"']);
  expect(await rows('facts.parquet', 'DISTINCT value, evidence')).toContain(
    '"2024-03-14T22:30:00Z" line 2 of stones.csv: 2024-03-15T00:30:00+02:00',
  );
});
