// A pack that a test defines: sources whose readings the test writes down, shipped in a temporary folder.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { collect } from '../../build/collect/collect.ts';
import type { Effects } from '../../build/effects/effects.ts';
import type { Npm } from '../../build/effects/npm.ts';
import { publishRun } from '../../data/write/facts.ts';
import { definePack } from '../../packs/define/define.ts';
import { fixtureFolder } from '../../packs/define/load.ts';
import type { Observed, Pack, Value } from '../../packs/define/model.ts';
import type { PackInput } from '../../packs/define/shape.ts';

/** One observation in a reading, by the record's code; `as` replaces parts of it. */
export type ObservedRow = { code: string; as?: Partial<Observed> } & Record<string, unknown>;

/** Readings of a source: day of 2026 (MM-DD) to its observations. 'broken' fails in the middle. */
export type Issues = Record<string, ObservedRow[] | 'broken'>;

/** A folder that is removed when the test ends. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'night-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder that is removed after the surrounding tests. */
export function scratchOfAll(): string {
  const folder = mkdtempSync(join(tmpdir(), 'night-'));
  // A child process of a killed service may still be writing.
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 }), 300_000);
  return folder;
}

/** Collects, and publishes the run as a night does whose release is current. */
export async function collectAndPublish(...args: Parameters<typeof collect>) {
  const collected = await collect(...args);
  await publishRun(args[1], args[0].id, collected.run);
  return collected;
}

const text = { type: 'string', description: 'Text', example: 'a', public: true, sla: 1000 } as const;

const input = (sources: PackInput['sources']): PackInput => ({
  title: 'Stones',
  description: 'Fictional stones.',
  license: { name: 'CC0-1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  attribution: 'Nobody',
  sources,
  attributes: {
    code: { ...text, filterable: true },
    name: { ...text, searchable: true },
    status: { type: 'enum', description: 'State', example: 'here', public: true, filterable: true, sla: 1000 },
    seen: { type: 'date', description: 'First seen', example: '2026-01-01', sla: 1000, once: true, weight: 0 },
    mass: {
      type: 'number',
      unit: 'kg',
      description: 'Mass',
      example: 2,
      filterable: true,
      range: { min: 0, max: 1000 },
      jump: 10,
      group_jump: false,
      sla: { warn: 240, error: 480 },
    },
    tags: { type: 'strings', description: 'Tags', example: ['a'], searchable: true, sla: 1000 },
    place: { type: 'geo', unit: 'degrees', description: 'Where', example: { lat: 1, lng: 2 }, sla: 1000 },
    'price.sale': { type: 'price', unit: 'EUR/piece', currency: 'EUR', description: 'Price', example: 3, sla: 1000 },
  },
  identity: { attributes: ['code'], slug: (id, values) => String(values['name'] ?? id['code']) },
  consolidation: { apart_days: 400 },
  gone: { attribute: 'status', value: 'gone', confidence: 0.8 },
  group_by: 'status',
  serving: { showcase: { per_group: 1 } },
  compare: ['mass'],
  prices: { search: 0.008, get: 0.004, facts: 0.01, compare: 0.012, stats: 0.015 },
  schedule: '0 3 * * *',
});

/** Sources that may drop all records, and of whose values and rows all may be wrong. */
const LENIENT = { max_drop: 1, tolerate: { values: 1, rows: 1 } };

/**
 * Builds a pack with the readings in `issues`, each as version `1.<month>.<day>` of the package named like
 * the source.
 */
export function stonesPack(
  folder: string,
  issues: Record<string, Issues>,
  revision = 1,
  members: Partial<PackInput['sources'][string]> = LENIENT,
): Pack {
  const pin = (source: string, date: string, said: ObservedRow[] | 'broken') => {
    const version = `1.${date.split('-').map(Number).join('.')}`;
    const at = fixtureFolder(folder, source, version);
    mkdirSync(at, { recursive: true });
    writeFileSync(join(at, 'told.json'), JSON.stringify(said));
    const observed_at = `2026-${date}T00:00:00Z`;
    return { package: source, version, integrity: '', observed_at, date_source: 'pin' as const };
  };
  const sources = Object.entries(issues).map(([source, said], i) => [
    source,
    {
      title: source,
      url: `https://${source}.example/`,
      license: 'CC0-1.0',
      trust: 0.9 - i / 10,
      complete: source !== 'rumour',
      ...members,
      pins: Object.entries(said).map(([date, told]) => pin(source, date, told)),
    },
  ]);
  const { settings, mistakes } = definePack({ ...input(Object.fromEntries(sources)), revision });
  if (settings === null) throw new Error(JSON.stringify(mistakes));
  const collector = {
    *read({ folder: at, source }: { folder: string; source: string }): Generator<Observed> {
      const said = JSON.parse(readFileSync(join(at, 'told.json'), 'utf8')) as ObservedRow[] | 'broken';
      for (const { code, as, ...values } of said === 'broken' ? [{ code: 'half' }] : said) {
        const observed = { code, ...(values as Record<string, Value>) };
        yield { identity: { code }, values: observed, source_url: `https://${source}.example/${code}`, ...as };
      }
      if (said === 'broken') throw new Error('the page is torn');
    },
  };
  return {
    id: 'stones',
    folder,
    ...settings,
    collector,
    samples: [],
    template: '# {{ record.name }}',
    guide: 'Stones.',
  };
}

/** Effects for tests: a stopped clock, no output, and the npm client of the test. */
export function still(now = '2026-11-20T00:00:00Z', npm?: Partial<Npm>): Effects & { lines: string[] } {
  const lines: string[] = [];
  const offline = () => Promise.reject(new Error('npm: ENOTFOUND no network in tests'));
  return {
    lines,
    now: () => new Date(now),
    ticks: () => 0,
    web: () => Promise.reject(new Error('no web in tests')),
    npm: { pack: offline, newest: offline, ...npm },
    environment: () => undefined,
    progress: {
      step: (dataset, step) => void lines.push(`${dataset}: ${step}`),
      at: () => undefined,
      note: (line) => void lines.push(line),
      warn: (line) => void lines.push(`! ${line}`),
      end: () => undefined,
    },
  };
}
