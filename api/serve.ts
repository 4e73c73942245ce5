// Runs the API: opens packs and releases, listens, follows new releases, and stops without losing requests.

import { createServer, type Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { guardedFetch, publicOnly } from '../build/crawl/guard.ts';
import { storageOf } from '../build/night/fleet.ts';
import type { Config } from '../config.ts';
import { restrictDataDir } from '../data/model/permissions.ts';
import { commandLine } from '../data/model/program.ts';
import { stopTracing, tracing } from '../data/model/tracing.ts';
import type { Register } from '../data/releases/register.ts';
import { loadPacks } from '../packs/define/load.ts';
import { type Application, compose, type Settings } from './compose.ts';
import { answerClientErrors } from './http/client-error.ts';
import { type Log, logRequests, openLog } from './http/log.ts';
import { publishedBaseUrl } from './http/static-overlay.ts';
import { traceRequests } from './http/trace.ts';
import type { X402Settings } from './payments/x402/open.ts';
import { canRewrite, openRewriter } from './rewrite.ts';

/**
 * Interval of the check for new releases and overlay changes, in milliseconds: a decision in one process must
 * take effect in all within a second. A check is a small query, and a small file per dataset.
 */
const LOOK = 400;
/** Interval of the check for new releases in object storage, in milliseconds: one small query. */
const FOLLOW = 1_000;
/** Interval at which a process adds its traffic counts to the store, in milliseconds. */
const FLUSH = 10_000;
/**
 * After a stop signal: how long idle keep-alive connections are still served, so that a request in transit is
 * not cut off, in milliseconds.
 */
const DRAIN = 500;
/** Time that requests in flight then have to finish, in milliseconds. */
const PATIENCE = 10_000;
/**
 * Keep-alive timeout, in milliseconds: longer than that of proxies, usually 60 s, so that the proxy closes
 * first and no request goes into a connection that is just being closed.
 */
const IDLE = 75_000;
/** Node answers 431 beyond this many bytes of headers; we reject addresses over 32 KiB ourselves. */
const MAX_HEADER = 65_536;

/** Prints a line for the person who starts the process. Not to the log, which must not contain a key. */
const print = (line: string) => void process.stdout.write(`${line}\n`);

/** Stripe's settings; config.ts checks that both secrets are set, or neither. */
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
  application: Application;
}

/** Lines for the operator: what the next nightly run has to build. */
async function pendingBuilds({ DIST_DIR, BASE_URL, RELEASES_URL }: Config, register: Register): Promise<string[]> {
  const lines: string[] = [];
  const missing = [...register.packs.keys()].filter((id) => register.state(id) === 'missing');
  if (missing.length > 0 && RELEASES_URL !== undefined)
    lines.push(`Not here yet, looking in ${RELEASES_URL}: ${missing.join(', ')}.`);
  else if (missing.length > 0) lines.push(`Never built: ${missing.join(', ')}. Run \`${commandLine('nightly')}\`.`);
  const baseUrl = await publishedBaseUrl(DIST_DIR);
  if (baseUrl !== null && baseUrl !== BASE_URL)
    lines.push(
      `The pages in ${DIST_DIR} were made for ${baseUrl}; their links and the explorer point there. Run \`${commandLine('nightly')}\`.`,
    );
  return lines;
}

/** Maps the environment's settings to those of the composition root. */
async function settingsOf(config: Config, log: Log): Promise<Settings> {
  return {
    // First: an invalid pack must end the start before a key is created.
    packs: await loadPacks(config.PACK_DIRS),
    dataDir: config.DATA_DIR,
    dist: config.DIST_DIR,
    databaseUrl: config.DATABASE_URL,
    wait: { seconds: config.DATABASE_WAIT_SECONDS, report: log.info },
    storage: await storageOf(config),
    redisUrl: config.REDIS_URL,
    adminKeys: config.ADMIN_KEYS,
    showAdminKey: (key) => print(`Admin key, shown only once: ${key}`),
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
    mcp_origins: config.MCP_ORIGINS,
    fast_path: config.FAST_PATH === '1',
    fetch: guardedFetch(publicOnly),
    now: () => new Date(),
    log: log.info,
    report: log.failed,
  };
}

/** Starts the API; resolves when it listens. */
async function start(config: Config, log: Log): Promise<Started> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: ratio } = config;
  if (endpoint !== undefined) {
    const { startTracing } = await import('../data/model/opentelemetry.ts');
    startTracing({ ratio, service: 'dataset-register', outgoing: true });
  }
  const settings = await settingsOf(config, log);
  restrictDataDir(config.DATA_DIR, log.info);
  const application = await compose(settings);
  const { register } = application;
  const traces = tracing();
  const listener = traces ? traceRequests(application.listener(), traces) : application.listener();
  const server = createServer({ maxHeaderSize: MAX_HEADER, keepAliveTimeout: IDLE }, listener);
  answerClientErrors(server, { base_url: config.BASE_URL, longest: MAX_HEADER });
  logRequests(server, log);
  server.listen(config.PORT, config.HOST);
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  const open = settings.packs.filter(({ id }) => register.state(id) === 'open').length;
  print(
    `Dataset register: ${open} of ${settings.packs.length} datasets at ${config.BASE_URL}, listening on ${config.HOST}:${config.PORT}`,
  );
  for (const line of await pendingBuilds(config, register)) print(line);
  return { server, application };
}

/**
 * Serves until SIGTERM or SIGINT, follows new releases meanwhile, and then waits for requests in flight.
 * `credentials`: the variables of the environment for the object storage, which child processes get too.
 */
export async function serve(config: Config, credentials: NodeJS.ProcessEnv = {}): Promise<void> {
  const log = openLog({ level: config.LOG_LEVEL, terminal: process.stderr.isTTY === true });
  const { server, application } = await start(config, log);
  const { register, traffic } = application;
  const following = new AbortController();
  void application.follower?.follow(FOLLOW, following.signal);
  const flush = () =>
    traffic.flush().catch((error: Error) => log.info(`cannot write traffic figures: ${error.message}`));
  const counting = setInterval(() => void flush(), FLUSH);
  const rewriter = canRewrite() ? openRewriter({ config, credentials, register, log: log.info }) : null;
  const looking = setInterval(() => {
    register.refresh().then(
      () => rewriter?.look(),
      (error: Error) => log.info(`cannot read new releases: ${error.message}`),
    );
  }, LOOK);
  const close = () => {
    following.abort();
    clearInterval(looking);
    clearInterval(counting);
    server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
    const late = setTimeout(() => server.closeAllConnections(), PATIENCE);
    // Call close of net only: close of http would cut idle connections at once, perhaps with a request in
    // transit.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(late);
      void Promise.resolve(rewriter?.stop())
        .then(() => application.close())
        .then(() => stopTracing())
        .finally(() => log.close());
    });
    setTimeout(() => server.closeIdleConnections(), DRAIN);
  };
  const stop = () => {
    process.off('SIGTERM', stop).off('SIGINT', stop);
    // Load balancers read /readyz and send no more calls, before the port closes.
    application.drain();
    if (config.DRAIN_SECONDS === 0) return close();
    log.info(`stopping in ${config.DRAIN_SECONDS} s; /readyz answers 503`);
    setTimeout(close, config.DRAIN_SECONDS * 1000);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
