// Reads both sources of the fictional tools: the Gazette's JSON lines and the Weekly's tab-separated lines.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCollector, type Observed, type PriceRange, type Reading, type Value } from 'dataset-register/pack';

type Price = number | { from: number; to: number };

/** A tool as the Workbench Gazette prints it. */
interface Entry {
  maker: string;
  model: string;
  title?: string;
  kind?: string;
  cordless?: boolean;
  kilograms?: number;
  runtime?: number;
  materials?: string[];
  made_at?: [lat: number, lng: number];
  manual?: string;
  about?: string;
  tested?: string;
  site?: string;
  list?: Price;
  rental?: Price;
}

function price(value: Price | undefined): number | PriceRange | undefined {
  return typeof value === 'object' ? { min: value.from, max: value.to, currency: 'EUR' } : value;
}

/** `https://tools.nordwerk.example/x` is of the domain `tools.nordwerk.example`. */
function domain(site: string | undefined): string | undefined {
  return site === undefined ? undefined : new URL(site).hostname;
}

/** An issue of the Gazette: its time, then a tool a line. */
async function issue(folder: string): Promise<[{ generated_at: string }, ...Entry[]]> {
  const lines = (await readFile(join(folder, 'tools.jsonl'), 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line)) as [{ generated_at: string }, ...Entry[]];
}

async function* workbench(reading: Reading): AsyncGenerator<Observed> {
  const [, ...entries] = await issue(reading.folder);
  for (const entry of entries) {
    const { maker, model } = entry;
    const at = entry.made_at;
    yield {
      identity: { maker, model },
      values: {
        maker,
        model,
        name: entry.title,
        kind: entry.kind,
        status: 'listed',
        first_seen: reading.observed_at.slice(0, 10),
        cordless: entry.cordless,
        mass: entry.kilograms,
        runtime: entry.runtime,
        materials: entry.materials,
        workshop: at && { lat: at[0], lng: at[1] },
        manual: entry.manual,
        summary: entry.about,
        tested_on: entry.tested,
        domain: domain(entry.site),
        'price.list': price(entry.list),
        'price.rental': price(entry.rental),
      },
      source_url: {
        'price.list': `https://workbench.example/issues/${reading.version}/prices`,
        '*': `https://workbench.example/issues/${reading.version}`,
      },
      evidence: { 'price.list': `list price printed for ${model}`, '*': `entry ${maker} ${model}` },
    };
  }
}

/**
 * Columns of a Weekly line: maker, model, kind, list price, rental, kilograms, remark. `~` before a number:
 * an unreliable value.
 */
async function* toolshed(reading: Reading): AsyncGenerator<Observed> {
  const lines = (await readFile(join(reading.folder, 'tools.tsv'), 'utf8')).split('\n').slice(1);
  for (const line of lines.filter((each) => each !== '')) {
    const [maker = '', model = '', kind = '', list = '', rental = '', kilograms = '', remark = ''] = line.split('\t');
    const hearsay = list.startsWith('~');
    const number = (text: string): Value | undefined => (text === '' ? undefined : Number(text.replace('~', '')));
    yield {
      identity: { maker, model },
      values: {
        maker,
        model,
        kind: kind === '' ? undefined : kind,
        first_seen: reading.observed_at.slice(0, 10),
        'price.list': number(list),
        'price.rental': number(rental),
        mass: number(kilograms),
        summary: remark === '' ? undefined : remark,
      },
      ...(hearsay ? { confidence: { 'price.list': 0.2 } } : {}),
      source_url: `https://toolshed.example/weekly/${reading.version}`,
      evidence: line.replaceAll('\t', ' · '),
    };
  }
}

export default defineCollector({
  read: (reading) => (reading.source === 'toolshed' ? toolshed(reading) : workbench(reading)),
  async observedAt(folder) {
    return issue(folder).then(
      ([{ generated_at }]) => generated_at,
      () => null,
    );
  },
});
