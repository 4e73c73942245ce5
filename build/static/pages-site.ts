// The pages for people: gathers their data, and renders them when it has changed.
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import { filterUses, type Operation } from '../../api/contract/operation.ts';
import { priceList } from '../../api/contract/pricing.ts';
import { datasetJsonld } from '../../api/discovery/jsonld.ts';
import { prerenderContext, releaseTime } from '../../api/discovery/prerender-context.ts';
import { dataset_changelog } from '../../api/operations/dataset/dataset_changelog.ts';
import { freshness } from '../../api/operations/dataset/dataset_status.ts';
import { PAGE_ASSETS } from '../../api/pages/assets.ts';
import { recordPage } from '../../api/pages/record-markdown.ts';
import type { SiteChanges, SiteData, SiteDataset, SiteProfile } from '../../api/pages/site.ts';
import { sqlExamples } from '../../api/pages/sql.ts';
import { PAGE_ROWS } from '../../api/pages/viewer-model.ts';
import { filterGrammar } from '../../data/input/filters.ts';
import type { PublicRecord, StoredRecord } from '../../data/model/record.ts';
import { sumOfDays } from '../../data/plan/history.ts';
import { choicesOf } from '../../data/queries/choices.ts';
import { listedFilter } from '../../data/queries/gone.ts';
import { pageRecords } from '../../data/queries/record-page.ts';
import type { Release } from '../../data/releases/release.ts';
import { releaseHistory } from '../../data/releases/runs.ts';
import { sqlTables } from '../../data/write/sql-tables.ts';
import { datasetAttribution } from '../../packs/define/links.ts';
import type { Value } from '../../packs/define/model.ts';
import type { Output } from './output.ts';
import { pagesProgram, renderPages } from './pages-program.ts';
import { type OpenApi, siteReference } from './site-reference.ts';

/** The first rows of the dataset's table. */
async function firstRows(release: Release, base_url: string): Promise<PublicRecord[]> {
  const { engine, manifest, pack } = release;
  const sort = { key: pack.serving.prominence ?? 'quality', descending: true };
  const { ordinals } = await engine.search({ where: [], sort, after: null, limit: PAGE_ROWS, total: false });
  const options = { now: new Date(manifest.created_at), base_url, visibility: 'public' } as const;
  return pageRecords({ release, ordinals, fields: null }, options);
}

const ROOT = join(import.meta.dirname, '../..');
/** Inputs of the pages besides the data of releases. npm packages do not contain lock files. */
const SOURCES = [
  'astro.config.mjs',
  existsSync(join(ROOT, 'package-lock.json')) ? 'package-lock.json' : 'package.json',
  'api/render/print.ts',
  'api/pages/frame.ts',
  'api/pages/html.ts',
  'api/pages/open-graph.ts',
];
/** Folders of sources. The code that `inputs` covers is left out (`codeFingerprint`). */
const FOLDERS = ['site', 'docs', 'api/contract', 'build/static'];
/** Showcase records on a dataset's page. */
const EXAMPLES = 10;
/** Download files on a dataset's page. */
const FILES = { 'public.parquet': 'Parquet', 'public.duckdb': 'DuckDB' };
const RecordMembers = z.looseObject({ slug: z.string(), attributes: z.record(z.string(), z.unknown()) });
const ProfileMembers = z.looseObject({ name: z.string(), public: z.boolean() });
/** Answers that the run wrote before the pages; the members that are read here are checked. */
const Examples = z.object({
  items: z.array(z.custom<PublicRecord>((record) => RecordMembers.safeParse(record).success)),
});
const Profile = z.object({
  attributes: z.array(z.custom<SiteProfile>((attribute) => ProfileMembers.safeParse(attribute).success)),
});
/** Changes of the first page (site/changes/model.ts). */
const CHANGES = 50;
/** ValueCounts of groups on it. */
const GROUPS = 100;
type ChangeGroups = { groups: { group: Value; items: number }[] };

/** The data of the pages, from the releases and from the answers just written to `dist`. */
export async function siteData(
  releases: readonly Release[],
  base: string,
  dist: string,
  operations: readonly Operation[],
  eur_usd: number,
): Promise<SiteData> {
  const datasets: SiteDataset[] = [];
  for (const release of releases) {
    const about = datasetOf(release, base, dist, operations);
    datasets.push({
      ...about,
      page: await markdownOf(release, about.examples[0]?.slug, base),
      choices: await choicesOf(release, []),
      rows: await firstRows(release, base),
      runs: await releaseHistory(release),
      changes: await changesOf(release, { releases: [...releases], base_url: base, eur_usd, operations }),
      jsonld: datasetJsonld(release, base),
    });
  }
  const now = releaseTime(releases);
  const document = JSON.parse(readFileSync(join(dist, 'openapi.json'), 'utf8')) as OpenApi;
  const reference = await siteReference(
    { releases: [...releases], base_url: base, eur_usd, operations, now },
    document,
  );
  return { base_url: base, assets: PAGE_ASSETS, datasets, reference };
}

/** The Markdown page of a record, which may be no file; empty without one. */
async function markdownOf({ engine, pack }: Release, slug: string | undefined, base: string): Promise<string> {
  const [ordinal = null] = slug === undefined ? [] : await engine.resolve([slug]);
  if (ordinal === null) return '';
  const [stored] = await engine.bodies([ordinal]);
  return recordPage(JSON.parse(stored!.body) as StoredRecord, pack, base);
}

/** Milliseconds of the stories of the home page. */
const MONTH = 30 * 86_400_000;

/** Changes of the main attributes, as the changelog returned them when the release was made. */
async function changesOf(release: Release, view: Parameters<typeof prerenderContext>[0]): Promise<SiteChanges> {
  const { id, attributes, compare } = release.pack;
  const ctx = prerenderContext(view, { release, path: `/v1/${id}/changelog`, format: 'json' });
  const changelog = async (query: Record<string, string>) => {
    const input = dataset_changelog.parse({ ds: id, type: 'changed', by_day: 'true', ...query }, ctx);
    return (await dataset_changelog.run(input, ctx)).body as Pick<SiteChanges, 'items' | 'total' | 'days'>;
  };
  const open = attributes.flatMap((attribute) => (attribute.public ? [attribute.name] : []));
  const compared = compare.filter((name) => open.includes(name));
  const main = compared.length > 0 ? compared : open;
  const { items, total, days } = await changelog({ days: '365', attribute: main.join(), limit: String(CHANGES) });
  const month = new Date(ctx.now.getTime() - MONTH).toISOString().slice(0, 10);
  const [sums, recent]: [SiteChanges['sums'], SiteChanges['sums']] = [[], []];
  for (const attribute of main) {
    const counted = (await changelog({ days: '365', attribute, limit: '1' })).days;
    sums.push(...sumsOf(attribute, counted));
    recent.push(
      ...sumsOf(
        attribute,
        counted.filter(({ date }) => date > month),
      ),
    );
  }
  const grouped = { group_by: release.pack.group_by, by_day: 'false', limit: String(GROUPS) };
  const { groups } = (await changelog({ days: '365', attribute: main.join(), ...grouped })) as unknown as ChangeGroups;
  const counts = groups.map(({ group, items: changes }) => ({ value: String(group), changes }));
  return { attributes: main, items, total, days, sums, recent, groups: counts };
}

/** The sums of some days of one attribute; none without a change. */
function sumsOf(attribute: string, days: SiteChanges['days']): SiteChanges['sums'] {
  return days.length === 0 ? [] : [{ attribute, ...sumOfDays(days) }];
}

function datasetOf(
  { pack, manifest }: Release,
  base: string,
  dist: string,
  operations: readonly Operation[],
): Omit<SiteDataset, 'changes' | 'choices' | 'jsonld' | 'page' | 'rows' | 'runs'> {
  const { id, title, description, license, sources, compare, group_by } = pack;
  const answer = (name: string): unknown => JSON.parse(readFileSync(join(dist, 'v1', id, name), 'utf8'));
  const written = Examples.parse(answer('examples'));
  const profile = Profile.parse(answer('profile'));
  const [value] = manifest.enums[group_by] ?? [];
  return {
    id,
    title,
    description,
    license,
    attribution: datasetAttribution(pack, base),
    release: manifest.release,
    as_of: manifest.created_at,
    last_collection: manifest.last_collection,
    records: manifest.records,
    facts: manifest.facts,
    ...freshness(manifest, pack, new Date(manifest.created_at)),
    sources: sources.map(({ id: source, title, url, license, trust }) => {
      return { id: source, title, url, license, trust, confirmed: manifest.confirmed[source] ?? null };
    }),
    attributes: pack.attributes,
    prices: priceList(operations, pack).map(({ name, eur }) => ({ operation: name, eur })),
    files: Object.entries(FILES).flatMap(([name, file]) => {
      const stats = statSync(join(dist, 'files', id, name), { throwIfNoEntry: false });
      return stats ? [{ name, title: file, bytes: stats.size }] : [];
    }),
    examples: oneOfEach(written.items, group_by).slice(0, EXAMPLES),
    compare,
    group_by,
    prominence: pack.serving.prominence,
    profile: profile.attributes,
    tool: id.replaceAll('-', '_'),
    filter: String(
      new URLSearchParams({ ...(value === undefined ? {} : { [group_by]: value }), ...listedFilter(pack) }),
    ),
    filters: filterGrammar(pack, null, filterUses(operations)),
    tables: sqlTables(pack),
    sql: sqlExamples(pack),
  };
}

/** The first record of each group, so that a few records show the variety. */
function oneOfEach(records: readonly PublicRecord[], group_by: string): PublicRecord[] {
  const groups = new Map<string, PublicRecord>();
  for (const record of records) {
    const group = JSON.stringify(record.attributes[group_by]) ?? '';
    if (!groups.has(group)) groups.set(group, record);
  }
  return [...groups.values()];
}

/** Prefix of the keys of these files. */
export const SITE_KEY = 'site.';

export interface SitePages {
  /** Fingerprint of the releases and settings that `data` reads. */
  inputs: string;
  /** Gathers the data of the pages. Called after they are compiled, and not when the pages are kept. */
  data: () => Promise<SiteData>;
  /** BASE_URL of their links. */
  base: string;
  /** A folder for temporary files. */
  scratch: string;
}

/** Writes the pages, unless their inputs and sources are unchanged. */
export async function writeSite({ inputs, data, base, scratch }: SitePages, output: Output): Promise<void> {
  const sources = [
    ...SOURCES,
    ...FOLDERS.flatMap((folder) => filesOf(join(ROOT, folder)).map((path) => `${folder}/${path}`)),
  ];
  const code = hash('sha256', JSON.stringify(sources.map((path) => readFileSync(join(ROOT, path), 'utf8'))), 'hex');
  const key = `${SITE_KEY}${hash('sha256', JSON.stringify([inputs, code]), 'hex').slice(0, 16)}`;
  if (output.keepAll(key)) return;
  const program = await pagesProgram(code, new URL(base).pathname, scratch);
  const made = join(scratch, 'site');
  await renderPages(program, made, data);
  for (const folder of [program.assets, made])
    for (const path of filesOf(folder)) output.write(path, readFileSync(join(folder, path)), key);
}

/** Paths of the files below a folder, sorted, with `/`. */
function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return entries.map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/')).sort();
}
