// A source on the web through complete nights: read, confirmed, changed, removed, unavailable.
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { signer } from '../../../build/crawl/sign.ts';
import { Web } from '../../../build/crawl/web.ts';
import { datasetNight } from '../../../build/night/dataset.ts';
import { Duck, quotedText } from '../../../data/duckdb/duck.ts';
import { paths } from '../../../data/model/layout.ts';
import { currentRelease } from '../../../data/model/manifest.ts';
import { defineCollector, readPages } from '../../../packs/define/index.ts';
import { site } from '../../support/crawl-site.ts';
import { type ObservedRow, scratch, still, stonesPack } from '../../support/night-pack.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const BASE = 'https://register.example';

const collector = defineCollector({
  async *read({ folder }) {
    for await (const { url, body } of readPages(folder))
      for (const { code, ...values } of JSON.parse(body.toString()) as ObservedRow[])
        yield { identity: { code }, values: { code, ...(values as Record<string, string>) }, source_url: url };
  },
});

test('a page is a reading each night: repeated values are confirmed, missing ones are withdrawn', async () => {
  const data = scratch();
  let clock = Date.parse('2026-11-20T00:00:00Z');
  const now = () => new Date(clock);
  let rows: ObservedRow[] = [
    { code: 'a', name: 'Agate', status: 'here', mass: 10 },
    { code: 'b', name: 'Beryl', status: 'here', mass: 20 },
  ];
  let up = true;
  const page = '/stones.json';
  const served = await site(
    { [page]: (_request, response) => void (up ? response.end(JSON.stringify(rows)) : response.writeHead(500).end()) },
    publicKey.export({ format: 'jwk' }),
    now,
  );
  onTestFinished(served.close);
  const crawl = { urls: [`${served.base}${page}`], delay_seconds: 0, max_bytes: 10_000, max_pages: 5 };
  const base = stonesPack(data, { site: { '01-01': [] } });
  const pack = {
    ...base,
    collector,
    sources: base.sources.map((source) => ({ ...source, pins: [], crawl, complete: true })),
  };
  const effects = () => ({
    ...still(now().toISOString()),
    web: async () => {
      const sign = signer({ ...privateKey.export({ format: 'jwk' }), kid: 'k' }, BASE);
      return new Web({
        allowed: () => true,
        ports: null,
        sign,
        base_url: BASE,
        now,
        wait: async () => {},
        random: () => 0,
      });
    },
  });
  const night = (days: number, revision = 1) => {
    clock += days * 86_400_000;
    return datasetNight({ ...pack, revision }, data, effects(), { accept: true });
  };
  const facts = async () => {
    const release = paths.release(data, 'stones', (await currentRelease(data, 'stones'))!);
    const duck = await Duck.open(join(data, 'spill'));
    const file = quotedText(join(release, 'facts.parquet'));
    const rows = await duck.rows(
      `SELECT attribute, value, strftime(observed_at, '%m-%d'), strftime(confirmed_at, '%m-%d') FROM read_parquet(${file})
       WHERE attribute IN ('mass', 'status') ORDER BY entity, attribute, observed_at`,
    );
    duck.close();
    return rows.map((row) => row.join(' '));
  };
  expect(await night(0)).toMatchObject({ outcome: 'released', records: 2, messages: [] });
  const first = await facts();
  await night(1);
  await night(1);
  // An unchanged page: no fact is added, and its values are confirmed.
  expect((await facts()).length).toBe(first.length);
  expect(await facts()).toContain('mass 10 11-20 11-22');
  rows = [{ code: 'a', name: 'Agate', status: 'here', mass: 11 }];
  await night(1);
  const changed = await facts();
  expect(changed).toEqual(expect.arrayContaining(['mass 10 11-20 11-22', 'mass 11 11-23 11-23']));
  expect(changed.filter((row) => /^status "?gone/.test(row))).toHaveLength(1);
  // The site is unavailable: reported, and all values stay.
  up = false;
  expect((await night(1)).messages).toEqual([expect.stringContaining('answered 500')]);
  expect(await facts()).toEqual(changed);
  up = true;
  // A changed collector reads every crawl again, from the stored pages.
  expect(await night(1, 2)).toMatchObject({ outcome: 'released', messages: [] });
  expect(await facts()).toEqual(expect.arrayContaining(['mass 10 11-20 11-22']));
  expect(readdirSync(join(paths.sources(data), 'crawl/stones/site')).length).toBeGreaterThan(4);
  expect(new Set(served.requests.map(({ signed }) => signed))).toEqual(new Set(['signed']));
}, 120_000);
