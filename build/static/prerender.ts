// Static files below DIST_DIR: free answers, documents, record pages and pages for people
// (docs/static-hosting.md).
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Operation } from '../../api/contract/operation.ts';
import { addressesOf } from '../../api/discovery/document.ts';
import { hostingRules } from '../../api/discovery/hosting.ts';
import { DOCUMENTS } from '../../api/discovery/index.ts';
import { prerenderContext, releaseTime } from '../../api/discovery/prerender-context.ts';
import { packVersion } from '../../api/operations/common/about.ts';
import { dataset_examples } from '../../api/operations/dataset/dataset_examples.ts';
import { knownProfiles, type Profile } from '../../api/operations/dataset/dataset_profile.ts';
import { entity_page } from '../../api/operations/record/entity_page.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { ASSETS, RECORD_ASSET, SCRIPT_ASSET, STYLE_ASSET } from '../../api/pages/assets.ts';
import { render } from '../../api/render/render.ts';
import type { Config } from '../../config.ts';
import { scratchFolder } from '../../data/model/atomic.ts';
import { codeFingerprint } from '../../data/model/code.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import { PUBLIC_MODES } from '../../data/model/permissions.ts';
import type { PublicRecord } from '../../data/model/record.ts';
import { NO_OVERLAY_SOURCE, type OverlaySource } from '../../data/releases/overlay-source.ts';
import { type Release, releaseTag } from '../../data/releases/release.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Effects } from '../effects/effects.ts';
import { isOfAllRecords, writeAnalystFiles, writeFileLists } from './analysts.ts';
import { headersFile } from './host-configs.ts';
import { Output, type OutputCounts } from './output.ts';
import { writePages } from './pages.ts';
import { SITE_KEY, siteData, writeSite } from './pages-site.ts';
import { readPublished } from './publish.ts';
import type { FileEntry } from './publish-manifest.ts';
import { writeSearch } from './search.ts';
import { closeRelease, sleepingRelease } from './sleeping-release.ts';

interface Showing {
  release: Release;
  base: string;
  eur_usd: number;
  operations: readonly Operation[];
  /** Fingerprint of the pages' inputs. */
  made: string;
}

/** Path of a record's HTML page below DIST_DIR; any host serves it at the record's address. */
function htmlPath(dataset: string, slug: string): string {
  return `datasets/${dataset}/${slug}/index.html`;
}

/** Writes the pages of all showcase records, unless they exist with the same key. */
async function writeShowcase(showing: Showing, output: Output): Promise<void> {
  const { release, base, eur_usd, operations, made } = showing;
  const { pack } = release;
  const key = `html.${made}.${[STYLE_ASSET, SCRIPT_ASSET, RECORD_ASSET].map(({ path }) => path.split('.')[1]).join('.')}`;
  if (output.keepAll(key)) return;
  const view = { releases: [release], base_url: base, eur_usd, operations };
  const context = (path: string, format: 'json' | 'html') => prerenderContext(view, { release, path, format });
  const ctx = context(`/v1/${pack.id}/examples`, 'json');
  const { body } = await dataset_examples.run(dataset_examples.parse({ ds: pack.id }, ctx), ctx);
  for (const { slug } of (body as { items: PublicRecord[] }).items) {
    const one = context(`/datasets/${pack.id}/${slug}`, 'html');
    const result = await entity_page.run(entity_page.parse({ ds: pack.id, entity_id: slug }, one), one);
    const { body: page } = await render(entity_page, result, one);
    output.write(htmlPath(pack.id, slug), String(page), key);
  }
}

export interface PrerenderOptions {
  config: Pick<Config, 'DATA_DIR' | 'DIST_DIR' | 'BASE_URL' | 'EUR_USD'> &
    Partial<Pick<Config, 'X402_PAY_TO' | 'RECORD_PAGES_MAX'>>;
  /** Datasets without a release are left out. */
  packs: readonly Pack[];
  /** Datasets whose pack cannot be loaded today: their files are kept. */
  untouched: readonly string[];
  effects: Pick<Effects, 'progress'>;
  /** Overlays of the releases; absent: none. */
  overlays?: OverlaySource;
  /** Writes the pages for people; tests of other parts replace it. */
  site?: typeof writeSite;
}

export interface PrerenderReport extends OutputCounts {
  /** Number and bytes of all files in the folder. */
  files: number;
  bytes: number;
  /** The files, by their path below the folder. */
  entries: ReadonlyMap<string, FileEntry>;
  /** Failures as sentences; the old files of a failed part are kept. */
  failures: string[];
  /** The release of each dataset in the files. */
  releases: Record<string, string>;
  /** Version of the overlay whose removals the files of each dataset lack. */
  overlays: Record<string, number>;
  /** Version of the overlay whose edits the files of each dataset contain. */
  edits: Record<string, number>;
  /** BASE_URL of their links. */
  base_url: string;
  /** Fingerprint of the code that wrote them. */
  code: string;
}

/**
 * Brings DIST_DIR to the state of the current releases. Files with unchanged inputs are kept; the next run
 * repairs a killed one.
 */
export async function prerender({
  config,
  packs,
  untouched,
  effects,
  overlays = NO_OVERLAY_SOURCE,
  site = writeSite,
}: PrerenderOptions): Promise<PrerenderReport> {
  const { DATA_DIR, DIST_DIR, BASE_URL: base, EUR_USD: eur_usd } = config;
  const { progress } = effects;
  if ((await mkdir(DIST_DIR, { recursive: true })) !== undefined) await chmod(DIST_DIR, PUBLIC_MODES.folder);
  const scratch = await scratchFolder(DATA_DIR, 'prerender');
  const releases: Release[] = [];
  try {
    for (const pack of packs) {
      const id = await currentRelease(DATA_DIR, pack.id);
      if (id !== null) releases.push(await sleepingRelease(DATA_DIR, pack, id, await overlays.read(pack.id)));
    }
    const output = openOutput(DIST_DIR);
    const code = codeFingerprint();
    const common = [base, eur_usd, code];
    const keys = releases.map((release) => {
      const { pack, manifest } = release;
      const made = [releaseTag(release), manifest.created_at, manifest.last_collection, packVersion(pack), ...common];
      return hash('sha256', JSON.stringify(made), 'hex');
    });
    const shared = { releases, base, eur_usd, operations: OPERATIONS };
    const { RECORD_PAGES_MAX: most = Number.POSITIVE_INFINITY } = config;
    const views = releases.map((release, i): DatasetFiles => {
      const written = {
        recordPages: release.manifest.records <= most,
        made: `${release.pack.id}.${keys[i]!.slice(0, 16)}`,
      };
      return { ...shared, ...written, release, scratch, progress };
    });
    const failures: string[] = [];
    const key = hash('sha256', keys.join(), 'hex').slice(0, 16);
    // Astro compiles changed pages for people, and DuckDB reads names for the search, while the datasets are written.
    const { answers, all: datasets } = writeDatasets(views, output);
    // At the same time as the files for analysts of the last dataset.
    const register = answers.then(() =>
      writeRegister({ ...shared, keys, x402: config.X402_PAY_TO !== undefined }, output),
    );
    const data = async () => {
      await Promise.all([datasets, register]);
      return siteData(releases, base, DIST_DIR, OPERATIONS, eur_usd);
    };
    const pages = site({ inputs: key, data, base, scratch }, output).catch((error: Error) => {
      failures.push(error.message);
      output.keepOld((entry) => entry.key.startsWith(SITE_KEY));
    });
    const search = writeSearch({ releases, scratch, key }, output);
    // Their errors are thrown below, after the datasets are written.
    for (const part of [search, register]) part.catch(() => {});
    try {
      await datasets;
      progress.step('register', 'prerender');
      await writeFileLists(releases, base, scratch, output);
      await Promise.all([register, search]);
    } finally {
      progress.step('register', 'pages for people');
      // Nothing may write after this function ends.
      await Promise.allSettled([pages, register, search]);
    }
    const old = untouched.flatMap(pathsOf);
    output.keepOld((_entry, path) => old.some((folder) => path.startsWith(folder)));
    const counts = output.finish();
    const bytes = [...output.files.values()].reduce((sum, file) => sum + file.bytes, 0);
    const byDataset = <T>(value: (release: Release) => T) =>
      Object.fromEntries(releases.map((release) => [release.pack.id, value(release)]));
    const contents = {
      releases: byDataset(({ manifest }) => manifest.release),
      overlays: byDataset(({ overlay, manifest }) => Math.max(overlay?.version ?? 0, manifest.overlay ?? 0)),
      edits: byDataset(({ manifest }) => manifest.overlay ?? 0),
    };
    const { files } = output;
    return { ...counts, failures, files: files.size, bytes, entries: files, base_url: base, code, ...contents };
  } finally {
    for (const release of releases) await closeRelease(release);
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Opens DIST_DIR; removals may have replaced files of some datasets since the last run. */
function openOutput(dist: string): Output {
  const output = new Output(dist);
  const replaced = Object.keys(readPublished(dist)?.rewritten ?? {}).map((path) => path.split('/')[1]!);
  output.remeasure(isOfAllRecords([...new Set(replaced)]));
  return output;
}

/** The beginnings of the paths of a dataset's files. */
function pathsOf(id: string): string[] {
  return [...['datasets', 'v1', 'files', 'sql', 'explore', 'record'].map((part) => `${part}/${id}/`), `og/${id}.png`];
}

/** Inputs of all files of a run. */
interface Shared {
  releases: Release[];
  base: string;
  eur_usd: number;
  operations: readonly Operation[];
}

interface DatasetFiles extends Shared {
  release: Release;
  scratch: string;
  /** Fingerprint of the files' inputs. */
  made: string;
  /** Whether the pages of its records are files. */
  recordPages: boolean;
  progress: Effects['progress'];
}

/** Files that are being written: each promise resolves when they are complete. */
interface Writing {
  answers: Promise<void>;
  all: Promise<void>;
}

/** Writes the files of all datasets, one after the other. `answers` are those of the last one. */
function writeDatasets(datasets: readonly DatasetFiles[], output: Output): Writing {
  const last = Promise.withResolvers<void>();
  const write = async () => {
    for (const dataset of datasets) {
      const { answers, all } = writeDataset(dataset, output);
      if (dataset === datasets.at(-1)) answers.then(last.resolve, last.reject);
      await all;
    }
  };
  const all = write();
  // Without a dataset, or when an earlier one fails.
  all.then(last.resolve, last.reject);
  return { answers: last.promise, all };
}

/** Writes the files of one dataset: answers, showcase pages, files for analysts, pages of records. */
function writeDataset({ scratch, made, progress, recordPages, ...view }: DatasetFiles, output: Output): Writing {
  const { release, base } = view;
  const { pack, manifest } = release;
  progress.step(pack.id, 'prerender');
  const onProgress = (done: number) => progress.at(done, manifest.records, 'pages');
  // Threads of their own render pages and run DuckDB's statements, so that all processors have work.
  const given = { release, base, scratch, key: `full.${made}`, pages: recordPages };
  const pages = writePages({ ...given, progress: onProgress }, output);
  const files = writeAnalystFiles({ release, base, scratch, key: `files.${made}`, pages }, output);
  const answers = writeOwnFiles({ ...view, made }, output);
  // The first error counts, and nothing may write after it.
  const all = Promise.allSettled([pages, files, answers]).then((finished) => {
    for (const result of finished) if (result.status === 'rejected') throw result.reason;
  });
  return { answers, all };
}

/** Writes the answers and the showcase pages. */
async function writeOwnFiles(view: Showing & Shared, output: Output): Promise<void> {
  const key = `answers.${view.made}`;
  if (!output.keepAll(key)) await writeAnswers({ ...view, key }, output);
  await writeShowcase(view, output);
}

/** Writes the answers and documents of the register; `keys` are the fingerprints of the datasets. */
async function writeRegister(
  { keys, x402, ...shared }: Shared & { keys: readonly string[]; x402: boolean },
  output: Output,
): Promise<void> {
  const { releases, base, operations } = shared;
  const made = [...keys, x402, ...ASSETS.map(({ path }) => path)].join();
  const key = `register.${hash('sha256', made, 'hex').slice(0, 16)}`;
  if (output.keepAll(key)) return;
  // The OpenAPI document shows them as examples.
  for (const release of releases) {
    const text = readFileSync(join(output.root, 'v1', release.pack.id, 'profile'), 'utf8');
    knownProfiles(release, (JSON.parse(text) as Profile).attributes);
  }
  await writeAnswers({ ...shared, key }, output);
  output.write('_headers', headersFile(hostingRules({ base_url: base, operations })), key);
  const view = { ...shared, base_url: base, x402, now: releaseTime(releases) };
  for (const document of DOCUMENTS.filter(({ live }) => !live)) {
    for (const { path, params } of addressesOf(document, view)) {
      const text = await document.text(view, params);
      if (text !== null) output.write(document.file ?? path.slice(1), text, key);
      if (document.markdown) output.write(`${path.slice(1)}.md`, document.markdown(view), key);
    }
  }
}

interface Answering extends Shared {
  /** The dataset of the answers; absent: the register. */
  release?: Release;
  /** Fingerprint of the files' inputs. */
  key: string;
}

/**
 * Writes every file that the table declares for a dataset, or for the register. pages.ts writes streamed
 * answers.
 */
async function writeAnswers(answering: Answering, output: Output): Promise<void> {
  const { release, operations, key, base } = answering;
  for (const operation of operations) {
    for (const { file, input, format } of operation.rest.prerender?.(release?.pack ?? null) ?? []) {
      const ctx = prerenderContext({ ...answering, base_url: base }, { release, path: `/${file}`, format });
      const result = await operation.run(operation.parse(input, ctx), ctx);
      const { body } = await render(operation, result, ctx);
      if (body instanceof Uint8Array) output.write(file, Buffer.from(body).toString(), key);
      else if (typeof body === 'string') output.write(file, body, key);
    }
  }
}
