// Any text that a pack states itself, by hand: the name of a sheet, constants, the value of gone records and samples have
// the stored form of contract section 5, "Text", in every answer.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type WriteOptions, writeXlsx } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { runPackCommand } from '../../../build/cli/pack.ts';
import { datasetNight } from '../../../build/night/dataset.ts';
import { testApp } from '../../support/app.ts';
import { scratch, still } from '../../support/night-pack.ts';

const LEGAL = ['--license', 'CC0-1.0', '--license-url', 'https://a.example/cc0', '--attribution', 'Someone', '--yes'];
const KINDS = ['north', 'south', 'ea\tst'];
const ROWS = Array.from({ length: 60 }, (_, i) => [`k${i}`, KINDS[i % 3]!, 40 + i / 10, 8 + i / 10]);
const [LAST] = ROWS.at(-1)!;

/** Texts as a pack states them, and as they are stored. */
const LISTED = ['li\r\nst\u0007ed \ud800 "\'`${x}', 'li\nsted \ufffd "\'`${x}'] as const;
const GONE = ['\u0000go\rne\u200f e\u0301\u0001', '\ufffdgo\nne\u200f \u00e9'] as const;
const NOTE = ['</script>\u0085 {{ x }}\r\n=1+1\udc00', '</script> {{ x }}\n=1+1\ufffd'] as const;

/** Writes a workbook whose second sheet has the rows. */
async function writeBook(file: string, sheet: string, rows: typeof ROWS): Promise<void> {
  const sheets = [
    { name: 'other', rows: [['nothing']] },
    { name: sheet, rows: [['code', 'kind', 'lat', 'lng'], ...rows] },
  ];
  writeFileSync(file, await writeXlsx({ sheets } as WriteOptions));
}

test.each(['A\'B"<&>\u200f e\u0301', '\u202e${x}`{{ y }}', '=1+1 ; DROP TABLE', '😀\u2028x'])(
  'a sheet %j, constants, gone records and samples of a pack',
  { timeout: 300_000 },
  async (sheet) => {
    const folder = scratch();
    await writeBook(join(folder, 'table.xlsx'), sheet, ROWS);
    const lines: string[] = [];
    const context = {
      cwd: folder,
      log: (line: string) => void lines.push(line),
      environment: { PACK_DIRS: join(folder, 'packs') },
    };
    const options = ['--sheet', sheet, '--title', 'Table', '--id', 'table', '--identity', 'code', ...LEGAL];
    const code = await runPackCommand(['from', 'table.xlsx', ...options], context);
    expect([code, code === 0 ? '' : lines.join('\n')]).toEqual([0, '']);
    // At another path, since the module of the first one was loaded.
    const home = join(folder, 'by-hand/table');
    cpSync(join(folder, 'packs/table'), home, { recursive: true });
    const pack = readFileSync(join(home, 'pack.ts'), 'utf8');
    const stated = pack.replaceAll("'listed'", JSON.stringify(LISTED[0])).replaceAll("'gone'", JSON.stringify(GONE[0]));
    expect(stated).not.toBe(pack);
    writeFileSync(join(home, 'pack.ts'), stated);
    const samples = JSON.parse(readFileSync(join(home, 'samples.json'), 'utf8')) as {
      values: object;
      evidence: string;
    }[];
    const statuses = [LISTED, GONE, LISTED];
    for (const [i, sample] of samples.entries()) {
      Object.assign(sample.values, { status: statuses[i]![0], kind: NOTE[0] });
      sample.evidence = NOTE[0];
    }
    writeFileSync(join(home, 'samples.json'), JSON.stringify(samples));

    const app = await testApp({ nights: true, packs: [relative(join(import.meta.dirname, '../..'), home)] });
    try {
      await writeBook(join(home, 'data/table.xlsx'), sheet, ROWS.slice(0, -1));
      const later = still('2026-11-21T00:00:00Z');
      const { release } = await datasetNight(app.register.packs.get('table')!, app.dataDir, later, { accept: true });
      expect(release).not.toBeNull();
      await app.register.refresh();
      const ask = async (path: string) => {
        const { status, body } = await app.json(`/v1/table/${path}`, { admin: true });
        expect([path, status]).toEqual([path, 200]);
        return body;
      };
      const expected = ROWS.map(([id]) => [id, id === LAST ? GONE[1] : LISTED[1]]).sort();
      const { items } = (await ask('entities?limit=100')) as { items: { attributes: Record<string, string> }[] };
      expect(items.map(({ attributes }) => [attributes['code'], attributes['status']]).sort()).toEqual(expected);
      const { features } = (await ask('entities?limit=100&format=geojson')) as {
        features: { properties: Record<string, string>; geometry: unknown }[];
      };
      expect(features.map(({ properties }) => [properties['code'], properties['status']]).sort()).toEqual(expected);
      expect(features.every(({ geometry }) => geometry !== null)).toBe(true);
      for (const [text, count] of [
        [LISTED[1], 59],
        [GONE[1], 1],
      ] as const) {
        const found = await ask(`entities?total=true&limit=1&status=${encodeURIComponent(text)}`);
        expect([text, found['total']]).toEqual([text, count]);
      }
      const shown = (await ask('samples')) as { items: { attributes: Record<string, string> }[] };
      expect(shown.items.map(({ attributes }) => [attributes['status'], attributes['kind']])).toEqual(
        statuses.map(([, stored]) => [stored, NOTE[1]]),
      );
      for (const path of ['samples.md', 'entities.md?limit=100', 'llms.txt', 'schema', `facets?by=status&format=md`]) {
        const text = await (await app.ask(`/v1/table/${path}`, { admin: true })).text();
        expect(text.isWellFormed() && !/[\0-\x08\x0b-\x1f\x7f-\x9f]/.test(text), path).toBe(true);
      }
      expect(app.faults).toEqual([]);
    } finally {
      await app.close();
    }
  },
);
