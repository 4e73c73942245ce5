// Every record of the real packs: an answer from stored bytes equals the presented record to the byte.
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readLines } from '../../data/duckdb/lines.ts';
import { RELEASE_FILES } from '../../data/model/layout.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import { type PresentOptions, presentRecord } from '../../data/queries/present.ts';
import { pageJson } from '../../data/queries/record-page.ts';
import { openRelease } from '../../data/releases/release.ts';
import { loadPack } from '../../packs/define/load.ts';
import { DATASETS } from './release.ts';

const presenting: PresentOptions = { now: new Date(), base_url: 'https://register.example', visibility: 'full' };
/** Records in an answer. */
const PAGE = 100;

test.each(DATASETS)(
  '%s',
  async (dataset) => {
    const pack = await loadPack(resolve('packs', dataset));
    const dataDir = resolve(process.env['DATA_DIR'] ?? '');
    const id = await currentRelease(dataDir, dataset);
    const release = await openRelease(dataDir, pack, id ?? '', { log: (text) => expect.fail(text) });
    let ordinal = 0;
    let bytes = 0;
    let items: string[] = [];
    const compare = () => {
      const ordinals = items.map((_, index) => ordinal - items.length + index);
      const page = pageJson({ release, ordinals, fields: null }, { next_cursor: null }, presenting);
      const json = Buffer.concat(page?.parts ?? []);
      // Compared as one text, since a difference would be long to print.
      expect(json.toString() === `{"items":[${items}],"next_cursor":null}`, `records up to ${ordinal}`).toBe(true);
      bytes += json.length;
      items = [];
    };
    for (const line of readLines(join(release.folder, RELEASE_FILES.jsonl))) {
      items.push(JSON.stringify(presentRecord(line, pack, presenting)));
      ordinal += 1;
      if (items.length === PAGE) compare();
    }
    if (items.length > 0) compare();
    expect(ordinal).toBe(release.manifest.records);
    console.log(`${dataset}: ${ordinal} records alike, ${bytes} bytes`);
    await release.engine.close();
  },
  600_000,
);
