// A dataset with one CSV source, for tests of complete nights: files with times, and the stored facts.
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { datasetNight } from '../../build/night/dataset.ts';
import { storedVersions, versionsFolder } from '../../build/sources/store.ts';
import { Duck, quotedText } from '../../data/duckdb/duck.ts';
import { paths } from '../../data/model/layout.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import type { Pack } from '../../packs/define/model.ts';
import { csv, DeclaredSourceShape } from '../../packs/define/sources.ts';
import { scratch, still, stonesPack } from './night-pack.ts';

type Options = Parameters<typeof csv>[1];

export const ATTRIBUTES = { name: 'Name', mass: { column: 'Mass (kg)', decimal: ',' }, 'price.sale': 'Price' } as const;

/** Published facts of an attribute: value, days observed and confirmed, evidence. */
export async function factsOf(folder: string, attribute: string): Promise<string[]> {
  const release = paths.release(folder, 'stones', (await currentRelease(folder, 'stones'))!);
  const duck = await Duck.open(join(folder, 'spill'));
  const rows = await duck.rows(
    `SELECT value, strftime(observed_at, '%m-%d'), strftime(confirmed_at, '%m-%d'), evidence
     FROM read_parquet(${quotedText(join(release, 'facts.parquet'))}) WHERE attribute = ${quotedText(attribute)}
     ORDER BY entity, observed_at, value`,
  );
  duck.close();
  return rows.map((row) => row.join(' '));
}

/** A dataset with one CSV source, whose files and nights a test makes. */
export function stage(file: string, options: Options, source: Partial<Pack['sources'][number]> = {}) {
  const folder = scratch();
  const base = stonesPack(folder, { shop: { '01-01': [] } });
  let clock = Date.parse('2026-11-20T00:00:00Z');
  const pack = (changed: Options = options): Pack => ({
    ...base,
    collector: { read: ({ rows }) => rows! },
    sources: base.sources.map((each) => ({
      ...each,
      pins: [],
      from: DeclaredSourceShape.parse(csv(file, changed)),
      ...source,
    })),
  });
  return {
    data: folder,
    /** Writes a file of the pack, last changed on a day of November 2026. */
    write(name: string, day: number, lines: readonly string[]) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${lines.join('\n')}\n`);
      const at = new Date(Date.UTC(2026, 10, day));
      utimesSync(path, at, at);
      return path;
    },
    /** Runs a night; the clock is a day later, or stopped. */
    night(changed?: Options, stopped = false) {
      if (!stopped) clock += 86_400_000;
      return datasetNight(pack(changed), folder, still(new Date(clock).toISOString()), { accept: true });
    },
    versions: () => storedVersions(versionsFolder(folder, 'stones', 'shop')),
    facts: (attribute: string) => factsOf(folder, attribute),
  };
}

export const HEADER = 'code,Name,"Mass (kg)",Price';
