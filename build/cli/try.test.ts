// `pack try` reads packages that were fetched before, and writes nothing into DATA_DIR.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Reading } from '../../packs/define/model.ts';
import { csv, DeclaredSourceShape } from '../../packs/define/sources.ts';
import { scratch, still, stonesPack } from '../../tests/support/night-pack.ts';
import { integrity, npmOf, tarball } from '../../tests/support/night-tar.ts';
import { tryPack } from './try.ts';

const packageOf = (mass: number) =>
  tarball([{ name: 'package/stones.csv', content: `code,name,mass\na,Agate,${mass}\n` }]);

test.each(['@some/stones', 'stones-data'])(
  'a version of %s that was not fetched stays out of DATA_DIR',
  async (name) => {
    const folder = scratch();
    const dataDir = join(folder, 'data');
    const [old, young] = [packageOf(1), packageOf(2)];
    const { npm, calls } = npmOf({ [`${name}@1.0.0`]: old, [`${name}@1.1.0`]: young });
    const base = stonesPack(folder, { shop: { '01-01': [] } });
    const pin = (version: string, bytes: Buffer, day: string) => ({
      package: name,
      version,
      integrity: integrity(bytes),
      observed_at: `2026-11-${day}T00:00:00Z`,
      date_source: 'pin' as const,
    });
    const pack = (...pins: ReturnType<typeof pin>[]) => ({
      ...base,
      collector: { read: ({ rows }: Reading) => rows! },
      sources: base.sources.map((each) => ({ ...each, from: DeclaredSourceShape.parse(csv('stones.csv')), pins })),
    });
    const lines: string[] = [];
    const run = (...pins: ReturnType<typeof pin>[]) =>
      tryPack(
        pack(...pins),
        { rows: 5, source: null, dataDir },
        still(undefined, npm),
        (line) => void lines.push(line),
      );
    const stored = join(dataDir, 'sources', name, '1.0.0');
    mkdirSync(stored, { recursive: true });
    writeFileSync(join(stored, 'stones.csv'), 'code,name,mass\na,Agate,7\n');
    writeFileSync(`${stored}.integrity`, `${integrity(old)}\n`);
    const before = readdirSync(dataDir, { recursive: true }).sort();
    // The newest version is tried, which is not the last one in the list.
    expect(await run(pin('1.1.0', young, '12'), pin('1.0.0', old, '10'))).toBe(0);
    expect(lines.join('\n')).toMatch(/mass \(kg\) +2/);
    expect(readdirSync(dataDir, { recursive: true }).sort()).toEqual(before);
    expect(calls).toEqual([`${name}@1.1.0`]);
    lines.length = 0;
    expect(await run(pin('1.0.0', old, '10'))).toBe(0);
    expect(lines.join('\n')).toMatch(/mass \(kg\) +7/);
    expect(calls).toHaveLength(1);
    expect(readdirSync(dataDir, { recursive: true }).sort()).toEqual(before);
  },
);
