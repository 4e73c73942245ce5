// The name of a release in the metadata of records.parquet.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { Duck, quotedText } from '../duckdb/duck.ts';
import { nameRecords, recordsNotes } from './analysts-files.ts';

const folder = scratchOfAll();

test('a file that is named later has the bytes of one that was written with the name', async () => {
  const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
  const path = join(folder, 'records.parquet');
  const release = '0123456789abcdef';
  const notes = recordsNotes(pack, '2026-11-20T00:00:00Z');
  const duck = await Duck.open(folder);
  try {
    const query = "SELECT range AS id, 'name ' || range AS name FROM range(50000)";
    await duck.parquet(query, join(folder, 'named.parquet'), undefined, { ...notes, release });
    await duck.parquet(query, path, undefined, notes);
    await nameRecords(folder, release);
    expect(readFileSync(path).equals(readFileSync(join(folder, 'named.parquet')))).toBe(true);
    const found = `SELECT decode(value) FROM parquet_kv_metadata(${quotedText(path)}) WHERE decode(key) = 'release'`;
    expect(await duck.rows(found)).toEqual([[release]]);
  } finally {
    duck.close();
  }
  await expect(nameRecords(folder, release)).rejects.toThrow(`${path} has no place for the name ${release}`);
});
