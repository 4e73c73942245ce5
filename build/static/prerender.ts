// The static half: free answers, documents, record pages and the pages for people, as files below DIST_DIR (docs/static-hosting.md).
import { hash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { addressesOf } from '../../api/discovery/document.ts';
import { momentOf } from '../../api/discovery/early.ts';
import { hostingRules } from '../../api/discovery/hosting.ts';
import { DOCUMENTS } from '../../api/discovery/index.ts';
import { packVersion } from '../../api/operations/common/about.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { SCRIPT_ASSET, STYLE_ASSET } from '../../api/pages/assets.ts';
import type { Config } from '../../config.ts';
import { UNFINISHED } from '../../data/model/atomic.ts';
import { codeFingerprint } from '../../data/model/code.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import { PUBLIC } from '../../data/model/permissions.ts';
import { NO_SOURCE, type OverlaySource } from '../../data/releases/overlay-source.ts';
import { type Release, releaseTag } from '../../data/releases/release.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Effects } from '../effects/effects.ts';
import { writeAnalystFiles, writeFileLists } from './analysts.ts';
import { headersFile } from './host-configs.ts';
import { Output, type OutputCounts } from './output.ts';
import { writePages } from './pages.ts';
import { writeShowcase } from './pages-html.ts';
import { SITE_KEY, siteData, writeSite } from './pages-site.ts';
import { writeAnswers } from './prerender-answers.ts';
import { closeRelease, sleepingRelease } from './release.ts';

export interface PrerenderOptions {
  config: Pick<Config, 'DATA_DIR' | 'DIST_DIR' | 'BASE_URL' | 'EUR_USD'> & Partial<Pick<Config, 'X402_PAY_TO'>>;
  /** Datasets without a release yet are left out. */
  packs: readonly Pack[];
  /** Datasets whose pack cannot be read today: their files stay as they are. */
  untouched: readonly string[];
  effects: Pick<Effects, 'progress'>;
  /** What lies over the releases; absent: nothing. */
  overlays?: OverlaySource;
  /** Makes the pages for people; tests of the rest leave them out. */
  site?: typeof writeSite;
}

export interface PrerenderReport extends OutputCounts {
  /** Files that belong to the folder now, and their bytes. */
  files: number;
  bytes: number;
  /** What could not be made, in words; the files of before stay for it. */
  failures: string[];
  /** Release of each dataset that the files stand for. */
  releases: Record<string, string>;
  /** Version of the overlay of each dataset that they stand for. */
  overlays: Record<string, number>;
  /** BASE_URL that their links begin with. */
  base_url: string;
  /** Fingerprint of the code that made them. */
  code: string;
}

/**
 * Makes DIST_DIR say what the current releases say. What was made from the same things before is not made again; a run
 * that dies is mended by the next one.
 */
export async function prerender({
  config,
  packs,
  untouched,
  effects,
  overlays = NO_SOURCE,
  site = writeSite,
}: PrerenderOptions): Promise<PrerenderReport> {
  const { DATA_DIR, DIST_DIR, BASE_URL: base, EUR_USD: eur_usd } = config;
  const { progress } = effects;
  if ((await mkdir(DIST_DIR, { recursive: true })) !== undefined) await chmod(DIST_DIR, PUBLIC.folder);
  const scratch = await scratchIn(DATA_DIR);
  const releases: Release[] = [];
  try {
    for (const pack of packs) {
      const id = await currentRelease(DATA_DIR, pack.id);
      if (id !== null) releases.push(await sleepingRelease(DATA_DIR, pack, id, await overlays.read(pack.id)));
    }
    const output = new Output(DIST_DIR);
    const code = codeFingerprint();
    const common = [base, eur_usd, code];
    const keys = releases.map((release) => {
      const { created_at, last_collection } = release.manifest;
      const made = [releaseTag(release), created_at, last_collection, packVersion(release.pack), ...common];
      return hash('sha256', JSON.stringify(made), 'hex');
    });
    const shared = { releases, base, eur_usd, operations: OPERATIONS };
    for (const [i, release] of releases.entries()) {
      const { pack, manifest } = release;
      progress.step(pack.id, 'prerender');
      const made = `${pack.id}.${keys[i]?.slice(0, 16)}`;
      const key = `answers.${made}`;
      if (!output.keepAll(key)) await writeAnswers({ ...shared, release, key }, output);
      const told = (done: number) => progress.at(done, manifest.records, 'pages');
      await writeShowcase({ ...shared, release, made }, output);
      await writeAnalystFiles({ release, base, scratch, key: `files.${made}` }, output);
      await writePages({ release, base, scratch, key: `full.${made}`, progress: told }, output);
    }
    progress.step('register', 'prerender');
    writeFileLists(releases, base, output);
    const x402 = config.X402_PAY_TO !== undefined;
    const key = `register.${hash('sha256', [...keys, x402, STYLE_ASSET.path, SCRIPT_ASSET.path].join(), 'hex').slice(0, 16)}`;
    if (!output.keepAll(key)) {
      await writeAnswers({ ...shared, key }, output);
      output.write('_headers', headersFile(hostingRules({ base_url: base, operations: OPERATIONS })), key);
      const view = { ...shared, base_url: base, x402, now: momentOf(releases) };
      for (const document of DOCUMENTS.filter(({ live }) => !live)) {
        for (const { path, params } of addressesOf(document, view)) {
          const text = await document.text(view, params);
          if (text !== null) output.write(document.file ?? path.slice(1), text, key);
          if (document.markdown) output.write(`${path.slice(1)}.md`, document.markdown(view), key);
        }
      }
    }
    const failures: string[] = [];
    const data = await siteData(releases, base, DIST_DIR, OPERATIONS, eur_usd);
    await site({ data, scratch }, output).catch((error: Error) => {
      failures.push(error.message);
      output.keepOld(({ key }) => key.startsWith(SITE_KEY));
    });
    const old = untouched.flatMap((id) => [
      `datasets/${id}/`,
      `v1/${id}/`,
      `files/${id}/`,
      `sql/${id}/`,
      `explore/${id}/`,
    ]);
    output.keepOld((_entry, path) => old.some((folder) => path.startsWith(folder)));
    const counts = output.finish();
    const bytes = [...output.files.values()].reduce((sum, file) => sum + file.bytes, 0);
    const ids = releases.map(({ pack, manifest }) => [pack.id, manifest.release]);
    const over = releases.map(({ pack, manifest, overlay }) => [pack.id, overlay?.version ?? manifest.overlay ?? 0]);
    const stands = { releases: Object.fromEntries(ids), overlays: Object.fromEntries(over) };
    return { ...counts, failures, files: output.files.size, bytes, base_url: base, code, ...stands };
  } finally {
    for (const release of releases) await closeRelease(release);
    await rm(scratch, { recursive: true, force: true });
  }
}

/** A folder of this run alone: a process that a killed run left behind may still write into that run's own. */
async function scratchIn(dataDir: string): Promise<string> {
  const name = `${UNFINISHED}prerender-`;
  for (const old of await readdir(dataDir)) {
    if (old.startsWith(name)) await rm(join(dataDir, old), { recursive: true, force: true });
  }
  return mkdtemp(join(dataDir, name));
}
