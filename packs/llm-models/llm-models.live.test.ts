// The model prices collector on its real pins: number of models per version, filled values, differences of
// sources.
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { valuesAgree } from '../../data/consolidate/compare.ts';
import { paths } from '../../data/model/layout.ts';
import { loadPack } from '../define/load.ts';
import type { Attribute, Pack, Value } from '../define/model.ts';
import { checkValue } from '../define/schema.ts';

type Values = Record<string, Value>;

let pack: Pack;
/** Values by source and version, then by record key. */
const read = new Map<string, Map<string, Values>>();
const refused: string[] = [];
const slugs = new Map<string, Set<string>>();
const links = new Set<string>();

beforeAll(async () => {
  pack = await loadPack(import.meta.dirname);
  // tests/live/setup.ts collects into this folder.
  const sources = paths.sources(process.env['DATA_DIR'] ?? '');
  const folder = async (name: string, version: string) => join(sources, name, version);
  const context = { folder, log: () => undefined };
  for (const { id, pins } of pack.sources) {
    for (const pin of pins) {
      const reading = { ...pin, source: id, folder: await folder(pin.package, pin.version) };
      const found = new Map<string, Values>();
      for await (const observed of pack.collector.read(reading, context)) {
        const key = pack.identity.key(observed.identity);
        expect(found.has(key), `${key} twice in ${pin.version}`).toBe(false);
        found.set(key, take(observed.values, `${id} ${pin.version} ${key}`));
        const slug = pack.identity.slug(observed.identity, {});
        slugs.set(slug, (slugs.get(slug) ?? new Set()).add(key));
        if (typeof observed.source_url === 'string') links.add(observed.source_url);
      }
      read.set(`${id} ${pin.version}`, found);
    }
  }
});

/** Valid values; invalid ones are collected in `refused`. */
function take(given: Record<string, Value | undefined>, where: string): Values {
  const values: Values = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const checked = checkValue(attribute(name), value);
    if (checked.ok) values[name] = checked.value;
    else refused.push(`${where} ${name}: ${checked.reason}`);
  }
  return values;
}

function attribute(name: string): Attribute {
  const found = pack.attributes.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no attribute ${name}`);
  return found;
}

const version = (name: string) => read.get(name)!;
const keysOf = (source: string) =>
  new Set([...read].filter(([name]) => name.startsWith(source)).flatMap(([, found]) => [...found.keys()]));

test('each version has the same number of models as when its integrity was pinned', () => {
  expect(Object.fromEntries([...read].map(([name, found]) => [name, found.size]))).toEqual({
    'genai-prices 0.0.22': 856,
    'genai-prices 0.0.34': 858,
    'genai-prices 0.0.39': 905,
    'genai-prices 0.0.44': 948,
    'genai-prices 0.0.53': 1161,
    'genai-prices 0.0.56': 1178,
    'genai-prices 0.0.62': 1194,
    'genai-prices 0.0.66': 1250,
    'genai-prices 0.0.69': 1424,
    'genai-prices 0.0.72': 1436,
    'genai-prices 0.1.7': 1681,
    'genai-prices 0.1.8': 1694,
    'pi-ai 0.84.0': 1152,
    'pi-ai 0.87.1': 1495,
    'pi-ai 1.0.3': 1618,
    'pi-ai 1.3.0': 1709,
    'pi-ai 1.5.2': 1767,
    'tokenlens 1.3.0': expect.any(Number),
  });
});

test('1,877 models were ever in genai-prices; 3,100 are current at 66 providers, 361 of them in both sources', () => {
  expect(keysOf('genai-prices').size).toBe(1877);
  const [genai, pi] = [version('genai-prices 0.1.8'), version('pi-ai 1.5.2')];
  const current = new Set([...genai.keys(), ...pi.keys()]);
  expect(current.size).toBe(3100);
  expect(new Set([...current].map((key) => key.split('/')[0])).size).toBe(66);
  expect([...genai.keys()].filter((key) => pi.has(key)).length).toBe(361);
  expect(new Set([...keysOf('genai-prices'), ...keysOf('pi-ai')]).size).toBe(3551);
});

test('the third source adds no record', () => {
  const others = new Set([...keysOf('genai-prices'), ...keysOf('pi-ai')]);
  expect([...keysOf('tokenlens')].filter((key) => !others.has(key))).toEqual([]);
});

test('no value is rejected, no slug is used twice', () => {
  expect(refused).toEqual([]);
  expect([...slugs].filter(([, keys]) => keys.size > 1)).toEqual([]);
});

test('prices are filled as counted', () => {
  const filled = (name: string) => [...version('genai-prices 0.1.8').values()].filter((one) => name in one).length;
  expect(
    ['input', 'output', 'cache_read', 'cache_write', 'web_search', 'input_audio'].map((name) =>
      filled(`price.${name}`),
    ),
  ).toEqual([1517, 1469, 509, 166, 49, 19]);
});

test('a price announced for 2027 is not current', () => {
  expect(version('genai-prices 0.1.8').get('google/gemini-3-6-flash')?.['price.input']).toBe(0.75);
});

test('only free models have a price of zero', () => {
  const zero = [...read].flatMap(([, found]) =>
    [...found].filter(([, values]) => values['price.input'] === 0 || values['price.output'] === 0).map(([key]) => key),
  );
  expect(new Set(zero.filter((key) => !key.endsWith(':free')))).toEqual(new Set(['radius/recursive/flint']));
});

test('on the same day the two sources differ as in data.md', () => {
  const [genai, pi] = [version('genai-prices 0.1.8'), version('pi-ai 0.87.1')];
  const differing = (name: string) =>
    [...genai].filter(([key, values]) => {
      const [a, b] = [values[name], pi.get(key)?.[name]];
      return a !== undefined && b !== undefined && !valuesAgree(attribute(name), a, b) && !isResold(key);
    }).length;
  expect(differing('context_window')).toBe(30);
  // A range and one of its ends do not differ.
  expect(differing('price.input')).toBe(5);
});

const isResold = (key: string) =>
  pack.consolidation.rule({ provider: key.split('/')[0]!, model_id: '' }).prefer === 'newest';

test('links lead to a host with the value', () => {
  const hosts = new Set([...links].map((link) => new URL(link).host));
  expect(hosts).toEqual(new Set(['github.com', 'unpkg.com', 'models.dev']));
  expect([...links].filter((link) => link.includes('/tree/'))).toEqual([]);
});

test('kind and input modalities are derived when no source states them', () => {
  const genai = version('genai-prices 0.1.8');
  const pi = new Set([...keysOf('pi-ai')]);
  const own = [...genai].filter(([key]) => !pi.has(key));
  const without = (name: string) => own.filter(([, values]) => values[name] === undefined).length / own.length;
  expect(without('kind')).toBeLessThan(0.12);
  expect(without('input_modalities')).toBeLessThan(0.65);
  // A value that pi-ai states is not derived.
  expect([...genai].filter(([key, values]) => pi.has(key) && values['kind'] !== undefined)).toEqual([]);
});
