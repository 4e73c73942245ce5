// The running API: packs, releases and the app behind a socket, new releases taken as they come, a stop without loss.

import { createServer, type Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { guardedFetch, publicOnly } from '../build/crawl/guard.ts';
import type { Config } from '../config.ts';
import { codeFingerprint } from '../data/model/code.ts';
import { restrictDataDir } from '../data/model/permissions.ts';
import { exportLinks } from '../data/releases/export.ts';
import { openOverlays } from '../data/releases/overlays.ts';
import { openRegister, type Register } from '../data/releases/register.ts';
import { sharedSecret } from '../data/state/secrets.ts';
import { signingKeys } from '../data/state/signing-keys.ts';
import { countTraffic, type Traffic } from '../data/state/traffic.ts';
import { loadPacks } from '../packs/index.ts';
import { createApp, failing } from './app.ts';
import { directory } from './channels/key-directory.ts';
import { openAccess } from './compose-access.ts';
import type { Gate } from './gate/execute.ts';
import type { Seen } from './gate/gate.ts';
import { lendFrom } from './gate/leases.ts';
import { answerClientErrors } from './http/client-error.ts';
import { directly } from './http/fast-path.ts';
import { filesMadeFor } from './http/fresh.ts';
import { type Log, logRequests, openLog } from './http/log.ts';
import { openOAuth } from './oauth/server.ts';
import { EVERY_OPERATION } from './operations/every.ts';
import { type Metrics, openMetrics } from './ops/metrics.ts';
import { openOps } from './ops/server.ts';
import { datasetStandings, reviewingOf, standing } from './ops/standing.ts';
import { openOwners } from './owners/open.ts';
import type { X402Settings } from './payments/x402/open.ts';
import { openRewriter } from './rewrite.ts';

/**
 * How often a running API looks for new releases and changes of the overlays, in milliseconds: what is decided in one process shows in all within
 * a second. A look is a small query, and a small file a dataset.
 */
const LOOK = 400;
/** How often the traffic that a process counted is added to the store, in milliseconds. */
const FLUSH = 10_000;
/** After a stop was asked for: how long kept connections are still answered, so that a request already sent is not cut off. */
const DRAIN = 500;
/** And how long requests in flight may take to finish then. */
const PATIENCE = 10_000;
/**
 * How long a kept connection may be idle, in milliseconds: longer than proxies keep theirs, 60 s as a rule, so that it is they who close it and no request
 * goes into a connection that is just being closed.
 */
const IDLE = 75_000;
/** Node answers 431 beyond this many bytes of headers; addresses up to 32 KiB are ours to refuse. */
const MAX_HEADER = 65_536;

/** For whoever starts the process. Not part of the log, where a key must not stand. */
const say = (line: string) => void process.stdout.write(`${line}\n`);

type Opened = Awaited<ReturnType<typeof openAccess>>;

const clock = () => new Date();

async function gateOf(
  config: Config,
  register: Register,
  access: Opened,
  owners: NonNullable<Gate['owners']>,
): Promise<Gate> {
  return {
    ...access.gate,
    owners,
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

/** What the owners' channel and the review work with. */
function ownerParts(register: Register, { store, quotas, mailer }: Opened, base_url: string) {
  return { store, quotas, mailer, base_url, editing: { store, refresh: register.refresh, current: register.current } };
}

/** Tells the operators that opt-outs of a dataset wait for them. */
const onHeldOptOut = (metrics: Metrics, log: Log) => (dataset: string) => {
  metrics.heldOptOut(dataset);
  log.info(`${dataset}: too many opt-outs within an hour; further ones wait at /ops/review`);
};

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

interface Started {
  server: Server;
  register: Register;
  access: Opened;
  traffic: Traffic;
}

/** What a night has still to make before everything works, for whoever started the process. */
async function notYet({ DIST_DIR, BASE_URL }: Config, register: Register): Promise<string[]> {
  const lines: string[] = [];
  const missing = [...register.packs.keys()].filter((id) => register.state(id) === 'missing');
  if (missing.length > 0) lines.push(`Never built: ${missing.join(', ')}. Run \`npm run nightly\`.`);
  const made = await filesMadeFor(DIST_DIR);
  if (made !== null && made !== BASE_URL)
    lines.push(
      `The pages in ${DIST_DIR} were made for ${made}, where their links and the explorer lead. Run \`npm run nightly\`.`,
    );
  return lines;
}

/** Starts the API; resolves when it listens. */
async function start(config: Config, log: Log): Promise<Started> {
  const started_at = clock();
  // One after the other: a wrong pack must end the start before a key is made.
  const packs = await loadPacks(config.PACK_DIRS);
  restrictDataDir(config.DATA_DIR, log.info);
  const access = await openAccess({
    dataDir: config.DATA_DIR,
    databaseUrl: config.DATABASE_URL,
    redisUrl: config.REDIS_URL,
    adminKeys: config.ADMIN_KEYS,
    showAdminKey: (key) => say(`Admin key, shown this once: ${key}`),
    smtpUrl: config.SMTP_URL,
    mailFrom: config.MAIL_FROM,
    host: config.HOST,
    trust_proxy: config.TRUST_PROXY,
    checkout: config.CHECKOUT,
    welcome_budget: Math.round(config.WELCOME_BUDGET_EUR * 1_000_000),
    stripe: stripeOf(config),
    x402: x402Of(config),
    base_url: config.BASE_URL,
    eur_usd: config.EUR_USD,
    now: clock,
    log: log.info,
  });
  const overlays = await openOverlays(access.store);
  const register = await openRegister({ dataDir: config.DATA_DIR, packs, log: log.info, overlays });
  const report = log.failed;
  const metrics = openMetrics(() => standing(register, access.redisUp));
  const traffic = countTraffic(access.store, clock);
  const owners = { ...ownerParts(register, access, config.BASE_URL), onHeldOptOut: onHeldOptOut(metrics, log) };
  const gate = {
    ...(await gateOf(config, register, access, openOwners(owners))),
    seen: (call: Seen) => {
      metrics.seen(call);
      traffic.count(call);
    },
  };
  const ops = openOps({
    store: access.store,
    admins: access.admins,
    reviewing: reviewingOf(owners, register),
    accounts: gate.accounts,
    standings: (now) => datasetStandings(register, config.DATA_DIR, now),
    traffic,
    base_url: config.BASE_URL,
    now: clock,
    log: log.info,
  });
  const { identify, limits } = access.gate;
  const oauth = openOAuth({
    store: access.store,
    quotas: access.quotas,
    identify,
    limits,
    base_url: config.BASE_URL,
    now: clock,
    report: (error) => report(error, 'oauth'),
    fetch: guardedFetch(publicOnly),
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
    ops,
    report,
  });
  const server = createServer(
    { maxHeaderSize: MAX_HEADER, keepAliveTimeout: IDLE },
    directly(app, getRequestListener(app.fetch), failing({ gate, report })),
  );
  answerClientErrors(server, { base_url: config.BASE_URL, longest: MAX_HEADER });
  logRequests(server, log);
  server.listen(config.PORT, config.HOST);
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  const open = packs.filter(({ id }) => register.state(id) === 'open').length;
  say(
    `Dataset register: ${open} of ${packs.length} datasets at ${config.BASE_URL}, listening on ${config.HOST}:${config.PORT}`,
  );
  for (const line of await notYet(config, register)) say(line);
  return { server, register, access, traffic };
}

/** Serves until SIGTERM or SIGINT: takes new releases while it runs, and then lets requests in flight finish. */
export async function run(config: Config): Promise<void> {
  const log = openLog({ level: config.LOG_LEVEL, terminal: process.stderr.isTTY === true });
  const { server, register, access, traffic } = await start(config, log);
  const flush = () =>
    traffic.flush().catch((error: Error) => log.info(`cannot write traffic figures: ${error.message}`));
  const counting = setInterval(() => void flush(), FLUSH);
  const rewriter = openRewriter({ config, register, log: log.info });
  const looking = setInterval(() => {
    register.refresh().then(
      () => rewriter.look(),
      (error: Error) => log.info(`cannot look for new releases: ${error.message}`),
    );
  }, LOOK);
  const stop = () => {
    process.off('SIGTERM', stop).off('SIGINT', stop);
    clearInterval(looking);
    clearInterval(counting);
    server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
    const late = setTimeout(() => server.closeAllConnections(), PATIENCE);
    // The close of net alone: that of http would cut kept connections at once, with a request perhaps on its way.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(late);
      void rewriter
        .stop()
        .then(() => register.close())
        .finally(flush)
        .finally(() => access.close())
        .finally(() => log.close());
    });
    setTimeout(() => server.closeIdleConnections(), DRAIN);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
