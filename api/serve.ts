// The running API: packs, releases and the app behind a socket, new releases taken as they come, a stop without loss.
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { serve } from '@hono/node-server';
import { codeFingerprint } from '../build/pages-code.ts';
import type { Config } from '../config.ts';
import { paths } from '../data/layout.ts';
import { openRegister, type Register } from '../data/register.ts';
import { adminKeys } from '../data/state/admin-keys.ts';
import { loadPacks } from '../packs/index.ts';
import { adminsOnly } from './access/caller.ts';
import { memoryLimits } from './access/limits.ts';
import { operatorsOnly } from './access/payments.ts';
import { memoryPreviews } from './access/previews.ts';
import { createApp } from './app.ts';
import type { Gate } from './execute.ts';
import { lendFrom } from './lend.ts';
import { OPERATIONS } from './operations/index.ts';

/** How often a running API looks for a new release, in milliseconds; a look reads one small file a dataset. */
const LOOK = 2_000;
/** After a stop was asked for: how long kept connections are still answered, so that a request already sent is not cut off. */
const DRAIN = 500;
/** And how long requests in flight may take to finish then. */
const PATIENCE = 10_000;
/** Node answers 431 beyond this many bytes of headers; addresses up to 32 KiB are ours to refuse. */
const MAX_HEADER = 65_536;

const log = (line: string) => void process.stdout.write(`${line}\n`);

/** The gate as it stands until keys and credits come: operators by key, everybody else with previews. */
function gateOf(config: Config, register: Register, hashes: string[]): Gate {
  const settings = { base_url: config.BASE_URL, eur_usd: config.EUR_USD };
  return {
    ...settings,
    identify: adminsOnly(hashes),
    limits: memoryLimits(),
    previews: memoryPreviews(),
    payments: operatorsOnly(settings),
    lease: lendFrom(register),
    operations: OPERATIONS,
    trust_proxy: config.TRUST_PROXY,
    code: codeFingerprint(),
    now: () => new Date(),
  };
}

/** Starts the API; resolves when it listens. */
async function start(config: Config): Promise<{ server: Server; register: Register }> {
  const started_at = new Date();
  const [packs, keys] = await Promise.all([
    loadPacks(config.PACK_DIRS),
    adminKeys(paths.state(config.DATA_DIR), config.ADMIN_KEYS),
  ]);
  const register = await openRegister({ dataDir: config.DATA_DIR, packs, log });
  const report = (error: unknown, request_id: string) =>
    void process.stderr.write(`request ${request_id}: ${error instanceof Error ? error.stack : String(error)}\n`);
  const app = createApp({ gate: gateOf(config, register, keys.hashes), dist: config.DIST_DIR, started_at, report });
  const server = serve({
    fetch: app.fetch,
    port: config.PORT,
    hostname: config.HOST,
    serverOptions: { maxHeaderSize: MAX_HEADER },
  }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  if (keys.made !== null) log(`Admin key, shown this once: ${keys.made}`);
  const open = packs.filter(({ id }) => register.state(id) === 'open').length;
  log(
    `Dataset register: ${open} of ${packs.length} datasets at ${config.BASE_URL}, listening on ${config.HOST}:${config.PORT}`,
  );
  return { server, register };
}

/** Serves until SIGTERM or SIGINT: takes new releases while it runs, and then lets requests in flight finish. */
export async function run(config: Config): Promise<void> {
  const { server, register } = await start(config);
  const looking = setInterval(() => {
    register.refresh().catch((error: Error) => log(`cannot look for new releases: ${error.message}`));
  }, LOOK);
  const stop = () => {
    process.off('SIGTERM', stop).off('SIGINT', stop);
    clearInterval(looking);
    server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
    const late = setTimeout(() => server.closeAllConnections(), PATIENCE);
    // The close of net alone: that of http would cut kept connections at once, with a request perhaps on its way.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(late);
      void register.close();
    });
    setTimeout(() => server.closeIdleConnections(), DRAIN);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
