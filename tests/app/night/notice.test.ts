// A licence notice of a pack is in every file that contains the attribution.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { expect, test } from 'vitest';
import { fullTextHead } from '../../../api/operations/dataset/dataset_full_text.ts';
import { recordPage } from '../../../api/pages/record-markdown.ts';
import { dictionaryJson, dictionaryMarkdown } from '../../../api/render/dictionary.ts';
import { noticeBlocks } from '../../../api/render/markdown.ts';
import { datasetNight } from '../../../build/night/dataset.ts';
import { croissant, writeAnalystFiles } from '../../../build/static/analysts.ts';
import { Output } from '../../../build/static/output.ts';
import { Duck, quotedText } from '../../../data/duckdb/duck.ts';
import { paths } from '../../../data/model/layout.ts';
import { readManifest } from '../../../data/model/manifest.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { openRelease } from '../../../data/releases/release.ts';
import { writePublicFiles } from '../../../data/write/analysts-files.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { scratch, still } from '../../support/night-pack.ts';

const NOTICE = 'Copyright 2026 The Makers\n\nRedistribution needs this ```notice```.';
const BASE = 'https://register.example';

async function noticeOf(path: string): Promise<string | undefined> {
  const { key_value_metadata = [] } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  return key_value_metadata.find(({ key }) => key === 'notice')?.value;
}

test('Parquet, DuckDB, dictionary, Croissant, full text and record pages have the notice', async () => {
  const [data, packs] = [scratch(), scratch()];
  const folder = join(packs, 'things');
  cpSync(join(import.meta.dirname, '../../../build/skeleton'), folder, { recursive: true });
  writeFileSync(join(folder, 'NOTICE'), `${NOTICE}\n`);
  const pack = await loadPack(folder);
  expect(pack.notice).toBe(NOTICE);
  const { release } = await datasetNight(pack, data, still(), { accept: false });
  const at = paths.release(data, 'things', release!);
  expect(await noticeOf(join(at, 'records.parquet'))).toBe(NOTICE);

  const info = { release: release!, created_at: '2026-11-20T00:00:00Z' };
  const work = join(data, 'work');
  mkdirSync(work);
  const files = await writePublicFiles({ pack, folder: at, info, removed: [] }, work);
  for (const path of [files['public.parquet'], files['history.parquet']]) expect(await noticeOf(path)).toBe(NOTICE);
  const duck = await Duck.open(join(data, 'spill'));
  try {
    await duck.run(`ATTACH ${quotedText(files['public.duckdb'])} AS public_files (READ_ONLY)`);
    expect(await duck.rows("SELECT value FROM public_files.release WHERE key = 'notice'")).toEqual([[NOTICE]]);
    const [[body]] = (await duck.rows(
      `SELECT body FROM read_parquet(${quotedText(join(at, 'bodies.parquet'))}) LIMIT 1`,
    )) as [[string]];
    expect(recordPage(JSON.parse(body) as StoredRecord, pack, BASE)).toContain(NOTICE);
  } finally {
    duck.close();
  }

  const manifest = await readManifest(at);
  const output = new Output(join(data, 'dist'));
  const opened = await openRelease(data, pack, release!);
  await writeAnalystFiles({ release: opened, base: BASE, scratch: work, key: 'made' }, output);
  await opened.engine.close();
  expect(readFileSync(join(data, 'dist/files/things/NOTICE.txt'), 'utf8')).toBe(`${NOTICE}\n`);
  expect(JSON.parse(dictionaryJson(pack, manifest, BASE))).toMatchObject({ notice: NOTICE });
  expect(dictionaryMarkdown(pack, manifest, BASE)).toContain(NOTICE);
  expect(fullTextHead({ pack, manifest }, BASE)).toContain(NOTICE);
  expect(JSON.parse(croissant(pack, manifest, BASE, []))).toMatchObject({ copyrightNotice: NOTICE });
}, 60_000);

test('the notice is a code block that it cannot end; a pack without one has no block', () => {
  expect(noticeBlocks({ notice: NOTICE })[1]).toBe(`\`\`\`\`text\n${NOTICE}\n\`\`\`\``);
  expect(noticeBlocks({})).toEqual([]);
});
