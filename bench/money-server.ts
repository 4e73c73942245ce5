// The API for bench/money.ts: everything as in production, but limits so high that only their counting costs.
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { memoryLimits } from '../api/access/limits.ts';
import { createApp, failing } from '../api/app.ts';
import { openAccess } from '../api/compose-access.ts';
import { lendFrom } from '../api/gate/leases.ts';
import { directly } from '../api/http/fast-path.ts';
import { EVERY_OPERATION } from '../api/operations/every.ts';
import { readConfig } from '../config.ts';
import { openRegister } from '../data/releases/register.ts';
import { loadPacks } from '../packs/index.ts';

const config = readConfig(process.env);
const { DATA_DIR: dataDir, BASE_URL: base_url, EUR_USD: eur_usd } = config;
const now = () => new Date();
const log = () => {};
const packs = await loadPacks(config.PACK_DIRS);
const register = await openRegister({ dataDir, packs, log });
const { HOST: host, TRUST_PROXY: trust_proxy, ADMIN_KEYS } = config;
const access = await openAccess({ dataDir, adminKeys: ADMIN_KEYS, host, trust_proxy, base_url, eur_usd, now, log });
const gate = {
  ...access.gate,
  limits: memoryLimits({ free: 1e9, paid: 1e9 }),
  lease: lendFrom(register),
  operations: EVERY_OPERATION,
  base_url,
  eur_usd,
  trust_proxy: 0,
  code: 'bench',
  now,
};
const report = (error: unknown) => void process.stderr.write(`${String(error)}\n`);
const app = createApp({ gate, checkout: access.checkout, dist: config.DIST_DIR, started_at: now(), report });
createServer(directly(app, getRequestListener(app.fetch), failing({ gate, report }))).listen(config.PORT, config.HOST);
