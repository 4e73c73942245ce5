// A rewrite: records that are opted out during a build are in the next release, which precedes the static
// pages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runNight } from '../../../build/night/run.ts';
import { readConfig } from '../../../config.ts';
import { paths, RELEASE_FILES } from '../../../data/model/layout.ts';
import { currentRelease, readManifest } from '../../../data/model/manifest.ts';
import { openSqlite } from '../../../data/state/sqlite.ts';
import { openStore } from '../../../data/state/store.ts';
import { scratchOfAll, still } from '../../support/night-pack.ts';
import { withCopies } from '../../support/whole-night.ts';

test('builds the next release before the pages, while records are opted out', async () => {
  const folder = scratchOfAll();
  const packs = join(import.meta.dirname, '../../packs');
  const config = readConfig({ DATA_DIR: folder, DIST_DIR: join(folder, 'dist'), PACK_DIRS: packs });
  await withCopies(config.DIST_DIR);
  expect((await runNight(config, still(), { only: ['harbours'], accept: false })).failures).toEqual([]);
  const store = await openStore({ dataDir: folder });
  await store.db
    .insertInto('overlays')
    .values({ dataset: 'harbours', version: 0, recorded_at: 0, reserved: '' })
    .onConflict((c) => c.doNothing())
    .execute();
  await store.close();
  const db = openSqlite(join(paths.state(folder), 'register.db'), 'FULL');
  const current = async () => {
    const release = (await currentRelease(folder, 'harbours')) ?? '';
    return readManifest(paths.release(folder, 'harbours', release));
  };
  const jsonl = join(paths.release(folder, 'harbours', (await current()).release), RELEASE_FILES.jsonl);
  const ids = readFileSync(jsonl, 'utf8')
    .match(/"r-[0-9a-f]{16}"/g)!
    .map((id) => id.slice(1, -1));
  const distinct = [...new Set(ids)];
  let version = 0;
  const remove = () => {
    version += 1;
    db.exec(`insert into opt_outs (id, dataset, entity_id, slug, name, contact, at, version)
      values ('o-${version}', 'harbours', '${distinct[version]}', 'gone-${version}', 'Gone', 'x@gone.example', 0, ${version})`);
    db.exec(`update overlays set version = ${version} where dataset = 'harbours'`);
  };
  remove();
  const effects = still();
  const lines: string[] = [];
  const note = (line: string) => {
    lines.push(line);
    // After the first release another record is opted out.
    if (/; release /.test(line) && version === 1) remove();
  };
  const progress = { ...effects.progress, note, step: (...words: string[]) => void lines.push(words.join(' ')) };
  const { failures } = await runNight(
    config,
    { ...effects, progress },
    { only: ['harbours'], accept: false, rewrite: true },
  );
  db.close();
  expect(failures).toEqual([]);
  expect((await current()).overlay).toBe(2);
  expect(lines.filter((line) => /^harbours: .*; release /.test(line))).toHaveLength(2);
  // The third check found nothing more to build.
  expect(lines.filter((line) => /no changes/.test(line))).toHaveLength(1);
}, 180_000);
