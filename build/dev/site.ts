// A process that `npm run dev` starts after a change of the pages for people: renders them with the answers of the
// running service, and writes the pages next to DIST_DIR's. Reads its input as JSON from stdin.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { OPERATIONS } from '../../api/operations/table.ts';
import type { Config } from '../../config.ts';
import { createPrivateFiles } from '../../data/model/permissions.ts';
import { openOverlays } from '../../data/releases/overlays.ts';
import { openRegister } from '../../data/releases/register.ts';
import { openStore } from '../../data/state/store.ts';
import { loadPacks } from '../../packs/define/load.ts';
import { Output } from '../static/output.ts';
import { siteData, writeSite } from '../static/pages-site.ts';
import type { DevFolders } from './view.ts';

/** Beginning of the names of temporary folders; a killed process leaves one. */
const SCRATCH = 'scratch-';

export interface SiteInput {
  config: Pick<Config, 'DATA_DIR' | 'PACK_DIRS' | 'DATABASE_URL' | 'BASE_URL' | 'EUR_USD'>;
  folders: DevFolders;
  /** Address of the service. */
  service: string;
}

/** Writes the answers that the pages quote to the places of DIST_DIR, where `siteData` reads them. */
async function fetchAnswers(service: string, datasets: readonly string[], dist: string): Promise<void> {
  const save = async (path: string): Promise<string> => {
    const response = await fetch(`${service}/${path}`);
    if (!response.ok) throw new Error(`${path}: the service answered ${response.status}`);
    const answer = await response.text();
    mkdirSync(dirname(join(dist, path)), { recursive: true });
    writeFileSync(join(dist, path), answer);
    return answer;
  };
  await save('openapi.json');
  for (const dataset of datasets) {
    await save(`v1/${dataset}/profile`);
    const examples = JSON.parse(await save(`v1/${dataset}/examples`)) as { items: { slug: string }[] };
    const [first] = examples.items;
    if (first !== undefined) await save(`datasets/${dataset}/${first.slug}.md`);
  }
}

async function main(input: SiteInput): Promise<void> {
  const { config, folders } = input;
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, BASE_URL: base, EUR_USD: eur_usd } = config;
  for (const name of readdirSync(folders.root))
    if (name.startsWith(SCRATCH)) rmSync(join(folders.root, name), { recursive: true, force: true });
  const scratch = mkdtempSync(join(folders.root, SCRATCH));
  const store = await openStore({ dataDir, databaseUrl });
  const packs = await loadPacks(config.PACK_DIRS);
  const register = await openRegister({ dataDir, packs, log: () => {}, overlays: await openOverlays(store) });
  try {
    const releases = packs.flatMap(({ id }) => register.current(id) ?? []);
    const dist = join(scratch, 'dist');
    mkdirSync(dist);
    const datasets = releases.map(({ pack }) => pack.id);
    await fetchAnswers(input.service, datasets, dist);
    // The pages show the sizes of the files for analysts.
    const files = join(folders.dist, 'files');
    if (existsSync(files)) symlinkSync(files, join(dist, 'files'), 'junction');
    const data = await siteData(releases, base, dist, OPERATIONS, eur_usd);
    // The sources of a pack may change within one release.
    const inputs = JSON.stringify(data);
    const output = new Output(folders.site);
    await writeSite({ inputs, data: async () => data, base, scratch: join(scratch, 'astro') }, output);
    output.finish();
  } finally {
    await register.close();
    await store.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

createPrivateFiles();
await main(JSON.parse(await text(process.stdin)) as SiteInput);
