// The running API: packs, releases and the app behind a socket, new releases taken as they come, a stop without loss.
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { serve } from '@hono/node-server';
import type { Config } from '../config.ts';
import { codeFingerprint } from '../data/code.ts';
import { exportLinks } from '../data/export.ts';
import { openOverlays } from '../data/overlays.ts';
import { openRegister, type Register } from '../data/register.ts';
import { sharedSecret } from '../data/state/secrets.ts';
import { signingKeys } from '../data/state/signing-keys.ts';
import { loadPacks } from '../packs/index.ts';
import { openAccess } from './access/open.ts';
import type { X402Settings } from './access/x402/open.ts';
import { createApp } from './app.ts';
import { directory } from './directory.ts';
import type { Gate } from './execute.ts';
import { lendFrom } from './lend.ts';
import { openOAuth } from './oauth/server.ts';
import { EVERY_OPERATION } from './operations/accounts.ts';
import { openMetrics } from './ops/metrics.ts';
import { openRewriter } from './rewrite.ts';
import { standing } from './standing.ts';

/**
 * How often a running API looks for new releases and changes of the overlays, in milliseconds: what is decided in one process shows in all within
 * a second. A look is a small query, and a small file a dataset.
 */
const LOOK = 400;
/** After a stop was asked for: how long kept connections are still answered, so that a request already sent is not cut off. */
const DRAIN = 500;
/** And how long requests in flight may take to finish then. */
const PATIENCE = 10_000;
/** Node answers 431 beyond this many bytes of headers; addresses up to 32 KiB are ours to refuse. */
const MAX_HEADER = 65_536;

const log = (line: string) => void process.stdout.write(`${line}\n`);

type Opened = Awaited<ReturnType<typeof openAccess>>;

const clock = () => new Date();

async function gateOf(config: Config, register: Register, access: Opened): Promise<Gate> {
  return {
    ...access.gate,
    exports: exportLinks(config.DATA_DIR, await sharedSecret(access.store, 'export_links'), register),
    base_url: config.BASE_URL,
    eur_usd: config.EUR_USD,
    lease: lendFrom(register),
    operations: EVERY_OPERATION,
    trust_proxy: config.TRUST_PROXY,
    code: codeFingerprint(),
    now: clock,
  };
}

/** Stripe's settings; config.ts has seen to it that both secrets are there or neither. */
function stripeOf(config: Config) {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_BASE: apiBase } = config;
  return secretKey === undefined || webhookSecret === undefined ? undefined : { secretKey, webhookSecret, apiBase };
}

function x402Of({ X402_PAY_TO, X402_FACILITATOR_URL, X402_RPC_URL, X402_TOKENS }: Config): X402Settings | null {
  if (X402_PAY_TO === undefined || X402_FACILITATOR_URL === undefined || X402_RPC_URL === undefined) return null;
  return {
    pay_to: X402_PAY_TO,
    facilitator_url: X402_FACILITATOR_URL,
    rpc_url: X402_RPC_URL,
    tokens: X402_TOKENS,
  };
}

/** Starts the API; resolves when it listens. */
async function start(config: Config): Promise<{ server: Server; register: Register; access: Opened }> {
  const started_at = clock();
  const [packs, access] = await Promise.all([
    loadPacks(config.PACK_DIRS),
    openAccess({
      dataDir: config.DATA_DIR,
      databaseUrl: config.DATABASE_URL,
      redisUrl: config.REDIS_URL,
      adminKeys: config.ADMIN_KEYS,
      stripe: stripeOf(config),
      x402: x402Of(config),
      base_url: config.BASE_URL,
      eur_usd: config.EUR_USD,
      now: clock,
      log,
    }),
  ]);
  const overlays = await openOverlays(access.store);
  const register = await openRegister({ dataDir: config.DATA_DIR, packs, log, overlays });
  const report = (error: unknown, request_id: string) =>
    void process.stderr.write(`request ${request_id}: ${error instanceof Error ? error.stack : String(error)}\n`);
  const metrics = openMetrics(() => standing(register, access.redisUp));
  const gate = { ...(await gateOf(config, register, access)), seen: metrics.seen };
  const { identify, limits } = access.gate;
  const oauth = openOAuth({
    store: access.store,
    quotas: access.quotas,
    identify,
    limits,
    base_url: config.BASE_URL,
    now: clock,
    report: (error) => report(error, 'oauth'),
  });
  const app = createApp({
    gate,
    oauth,
    directory: () => directory(access.store, config.BASE_URL, clock()),
    checkout: access.checkout,
    dist: config.DIST_DIR,
    mcp_origins: config.MCP_ORIGINS,
    cardKey: async () => (await signingKeys(access.store)).keys[0],
    started_at,
    metrics: metrics.text,
    report,
  });
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
  if (access.made !== null) log(`Admin key, shown this once: ${access.made}`);
  const open = packs.filter(({ id }) => register.state(id) === 'open').length;
  log(
    `Dataset register: ${open} of ${packs.length} datasets at ${config.BASE_URL}, listening on ${config.HOST}:${config.PORT}`,
  );
  return { server, register, access };
}

/** Serves until SIGTERM or SIGINT: takes new releases while it runs, and then lets requests in flight finish. */
export async function run(config: Config): Promise<void> {
  const { server, register, access } = await start(config);
  const rewriter = openRewriter({ config, register, log });
  const looking = setInterval(() => {
    register.refresh().then(
      () => rewriter.look(),
      (error: Error) => log(`cannot look for new releases: ${error.message}`),
    );
  }, LOOK);
  const stop = () => {
    process.off('SIGTERM', stop).off('SIGINT', stop);
    clearInterval(looking);
    server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
    const late = setTimeout(() => server.closeAllConnections(), PATIENCE);
    // The close of net alone: that of http would cut kept connections at once, with a request perhaps on its way.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(late);
      void rewriter
        .stop()
        .then(() => register.close())
        .finally(() => access.close());
    });
    setTimeout(() => server.closeIdleConnections(), DRAIN);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
