// The API for bench/money.ts: as in production, but with limits so high that only counting costs time.
import { createServer } from 'node:http';
import { memoryLimits } from '../api/access/limits.ts';
import { compose } from '../api/compose.ts';
import { readConfig } from '../config.ts';
import { loadPacks } from '../packs/define/load.ts';

const config = readConfig(process.env);
const { listener } = await compose({
  packs: await loadPacks(config.PACK_DIRS),
  dataDir: config.DATA_DIR,
  dist: config.DIST_DIR,
  adminKeys: config.ADMIN_KEYS,
  host: config.HOST,
  trust_proxy: config.TRUST_PROXY,
  base_url: config.BASE_URL,
  eur_usd: config.EUR_USD,
  now: () => new Date(),
  log: () => {},
  report: (error) => void process.stderr.write(`${String(error)}\n`),
  adjust: (gate) => ({ ...gate, limits: memoryLimits({ free: 1e9, paid: 1e9 }), trust_proxy: 0 }),
});
createServer(listener()).listen(config.PORT, config.HOST);
