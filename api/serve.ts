// The running API: packs, releases and the app behind a socket, new releases taken as they come, a stop without loss.

import { createServer, type Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { guardedFetch, publicOnly } from '../build/crawl/guard.ts';
import type { Config } from '../config.ts';
import { restrictDataDir } from '../data/model/permissions.ts';
import type { Register } from '../data/releases/register.ts';
import { loadPacks } from '../packs/define/load.ts';
import { type Application, compose, type Settings } from './compose.ts';
import { answerClientErrors } from './http/client-error.ts';
import { filesMadeFor } from './http/fresh.ts';
import { type Log, logRequests, openLog } from './http/log.ts';
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

/** Prints a line for the person who starts the process. Not in the log, which must not contain a key. */
const print = (line: string) => void process.stdout.write(`${line}\n`);

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
  application: Application;
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

/** The settings of the composition root, as the environment has them. */
async function settingsOf(config: Config, log: Log): Promise<Settings> {
  return {
    // First: a wrong pack must end the start before a key is made.
    packs: await loadPacks(config.PACK_DIRS),
    dataDir: config.DATA_DIR,
    dist: config.DIST_DIR,
    databaseUrl: config.DATABASE_URL,
    redisUrl: config.REDIS_URL,
    adminKeys: config.ADMIN_KEYS,
    showAdminKey: (key) => print(`Admin key, shown this once: ${key}`),
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
    fetch: guardedFetch(publicOnly),
    now: () => new Date(),
    log: log.info,
    report: log.failed,
  };
}

/** Starts the API; resolves when it listens. */
async function start(config: Config, log: Log): Promise<Started> {
  const settings = await settingsOf(config, log);
  restrictDataDir(config.DATA_DIR, log.info);
  const application = await compose(settings);
  const { register } = application;
  const server = createServer({ maxHeaderSize: MAX_HEADER, keepAliveTimeout: IDLE }, application.listener());
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
  for (const line of await notYet(config, register)) print(line);
  return { server, application };
}

/** Serves until SIGTERM or SIGINT: takes new releases while it runs, and then lets requests in flight finish. */
export async function run(config: Config): Promise<void> {
  const log = openLog({ level: config.LOG_LEVEL, terminal: process.stderr.isTTY === true });
  const { server, application } = await start(config, log);
  const { register, traffic } = application;
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
        .then(() => application.close())
        .finally(() => log.close());
    });
    setTimeout(() => server.closeIdleConnections(), DRAIN);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
