// The newest version after the pins: when it is new, its date, and runs without a network.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Duck } from '../../data/duckdb/duck.ts';
import { allReadings } from '../../data/write/facts.ts';
import type { Pack } from '../../packs/define/model.ts';
import { collectAndPublish, scratch, still, stonesPack } from '../../tests/support/night-pack.ts';
import { integrity, npmOf, tarball } from '../../tests/support/night-tar.ts';

const bytes = tarball([{ name: 'package/told.json', content: JSON.stringify([{ code: 'a', mass: 9 }]) }]);
const found = (version: string, published: string | null) => ({ version, integrity: integrity(bytes), published });

/** A pack with one pin and a newest version. */
function withNewest(folder: string, observedAt?: Pack['collector']['observedAt']): Pack {
  const pack = stonesPack(folder, { quarry: { '01-01': [{ code: 'a', mass: 1 }] } });
  const sources = pack.sources.map((source) => ({ ...source, newest: 'quarry' }));
  return { ...pack, sources, collector: { ...pack.collector, ...(observedAt ? { observedAt } : {}) } };
}

async function readings(data: string) {
  const duck = await Duck.open(join(data, 'spill'));
  const made = await allReadings(duck, data, 'stones');
  duck.close();
  return made.map(({ version, confirmed_at, date_source }) => [
    version,
    new Date(confirmed_at).toISOString(),
    date_source,
  ]);
}

const PIN = ['1.1.1', '2026-01-01T00:00:00.000Z', 'pin'];

describe('the newest version', () => {
  const night = async (data: string, pack: Pack, version: string, published: string | null) => {
    const { npm, calls: asked } = npmOf({ [`quarry@${version}`]: bytes }, { quarry: found(version, published) });
    const collected = await collectAndPublish(pack, data, still('2026-11-20T00:00:00Z', npm));
    return { collected, asked };
  };

  test('is read with the date of the registry', async () => {
    const data = scratch();
    const { collected } = await night(data, withNewest(scratch()), '2.0.0', '2026-06-01T10:00:00Z');
    expect(collected).toMatchObject({ readings: 2, failures: [] });
    expect(await readings(data)).toEqual([PIN, ['2.0.0', '2026-06-01T10:00:00.000Z', 'registry']]);
  });

  test('a date inside the data counts more', async () => {
    const data = scratch();
    await night(
      data,
      withNewest(scratch(), async () => '2026-05-05T00:00:00Z'),
      '2.0.0',
      '2026-06-01T10:00:00Z',
    );
    expect(await readings(data)).toEqual([PIN, ['2.0.0', '2026-05-05T00:00:00.000Z', 'data']]);
  });

  test('is never dated later than the fetch', async () => {
    const data = scratch();
    await night(data, withNewest(scratch()), '2.0.0', '2031-01-01T00:00:00Z');
    expect((await readings(data))[1]).toEqual(['2.0.0', '2026-11-20T00:00:00.000Z', 'registry']);
  });

  test('is read once', async () => {
    const [data, folder] = [scratch(), scratch()];
    await night(data, withNewest(folder), '2.0.0', '2026-06-01T10:00:00Z');
    const { collected, asked } = await night(data, withNewest(folder), '2.0.0', '2026-06-01T10:00:00Z');
    expect(collected.readings).toBe(0);
    expect(asked).toEqual(['quarry']);
  });

  test('is not new when it is a pin, or older than one', async () => {
    const data = scratch();
    await night(data, withNewest(scratch()), '1.1.1', '2026-06-01T10:00:00Z');
    const { collected } = await night(data, withNewest(scratch()), '0.9.0', '2025-06-01T10:00:00Z');
    expect(collected.warnings).toEqual([
      'quarry: the newest version quarry@0.9.0 of 2025-06-01 is older than quarry@1.1.1 of 2026-01-01, which was ' +
        'collected; it is not read',
    ]);
    expect(await readings(data)).toEqual([PIN]);
  });

  test('is refused when its hash differs from that of the registry', async () => {
    const data = scratch();
    const { npm } = npmOf({ 'quarry@2.0.0': tarball([{ name: 'package/x' }]) }, { quarry: found('2.0.0', null) });
    const collected = await collectAndPublish(withNewest(scratch()), data, still(undefined, npm));
    expect(collected.warnings).toEqual(['quarry: newest of quarry: the tarball does not match its integrity']);
    expect(await readings(data)).toEqual([PIN]);
  });
});

test('without a network cached pins are used, and missing ones are reported', async () => {
  const data = scratch();
  const pack = withNewest(scratch());
  const [source] = pack.sources;
  const pin = {
    ...source!.pins[0]!,
    version: '1.5.5',
    integrity: integrity(bytes),
    observed_at: '2026-05-05T00:00:00Z',
  };
  const more = { ...pack, sources: [{ ...source!, pins: [...source!.pins, pin] }] };
  const collected = await collectAndPublish(more, data, still());
  expect(collected.readings).toBe(1);
  expect(collected.failures).toEqual(['quarry: quarry@1.5.5: npm: ENOTFOUND no network in tests']);
  expect(collected.warnings).toEqual(['quarry: newest of quarry: npm: ENOTFOUND no network in tests']);
  expect(await readings(data)).toEqual([PIN]);
});
