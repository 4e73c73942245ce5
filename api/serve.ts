// Runs the API: opens packs and releases, listens, follows new releases, and stops without losing requests.

import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { MessagePort } from 'node:worker_threads';
import type { Config } from '../config.ts';
import { restrictDataDir } from '../data/model/permissions.ts';
import { commandLine } from '../data/model/program.ts';
import { stopTracing, type Tracing, tracing } from '../data/model/tracing.ts';
import { storageOf } from '../data/objects/open.ts';
import type { Register } from '../data/releases/register.ts';
import type { Pack } from '../packs/define/model.ts';
import { startBuilder } from './builder.ts';
import { type Application, compose, type SharedParts } from './compose.ts';
import { balanceConnections, type ThreadPlace } from './http/balance.ts';
import { answerClientErrors } from './http/client-error.ts';
import { type Log, loggedPath, logRequests, openLog, withoutQuery } from './http/log.ts';
import { publishedBaseUrl } from './http/static-overlay.ts';
import { closeStalled } from './http/streams.ts';
import { FOLLOW, LOOK, openLivePacks, print, settingsOf, stopOnSignals } from './process.ts';
import { canRewrite, openRewriter, type Rewriter } from './rewrite.ts';

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
/**
 * Milliseconds until the headers and the whole of a request must be here, and between two checks of that: bodies
 * are at most 64 KiB.
 */
const ARRIVAL = { headersTimeout: 15_000, requestTimeout: 30_000, connectionsCheckingInterval: 5_000 };
/** Node answers 431 beyond this many bytes of headers; we reject addresses over 32 KiB ourselves. */
const MAX_HEADER = 65_536;

const missingIn = (register: Register): string[] =>
  [...register.packs.keys()].filter((id) => register.state(id) === 'missing');

/** Lines for the operator: what the next nightly run has to build. */
async function pendingBuilds(
  { DIST_DIR, BASE_URL, RELEASES_URL }: Config,
  register: Register,
  builds: boolean,
): Promise<string[]> {
  const lines: string[] = [];
  const missing = missingIn(register);
  if (missing.length > 0 && RELEASES_URL !== undefined)
    lines.push(`Not here yet, looking in ${RELEASES_URL}: ${missing.join(', ')}.`);
  else if (missing.length > 0 && !builds)
    lines.push(`Never built: ${missing.join(', ')}. Run \`${commandLine('nightly')}\`.`);
  const baseUrl = await publishedBaseUrl(DIST_DIR);
  if (baseUrl !== null && baseUrl !== BASE_URL)
    lines.push(
      `The pages in ${DIST_DIR} were made for ${baseUrl}; their links and the explorer point there. Run \`${commandLine('nightly')}\`.`,
    );
  return lines;
}

/** How a thread of the API is started. */
export interface ServerOptions {
  /** Variables of the environment for the object storage, which child processes get too. */
  credentials?: NodeJS.ProcessEnv;
  /** Whether this process builds what has no release yet. */
  builds?: boolean;
  /** Absent: this thread is the only one. */
  thread?: ThreadParts;
}

/** What a thread gets from the process when there are several (api/workers.ts). */
export interface ThreadParts {
  shared: SharedParts;
  place: ThreadPlace;
  /** Port to the thread that writes charges on SQLite; null on PostgreSQL. */
  writerPort: MessagePort | null;
  /** Whether this thread rebuilds releases after an opt-out: one of them does. */
  rebuilds: boolean;
}

/** The listener, whose requests run in spans of their own. */
function traceRequests(listener: RequestListener, tracing: Tracing): RequestListener {
  return (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const request = { method, path: loggedPath(withoutQuery(url)), headers };
    const end = tracing.serve(request, () => void listener(incoming, outgoing));
    outgoing.once('close', () => end(outgoing.statusCode, outgoing.writableFinished));
  };
}

/** Listens with one server; resolves with its port when it does, which is a free one where `PORT` is 0. */
async function listen(server: Server, { PORT, HOST }: Config, reusePort: boolean): Promise<number> {
  server.listen({ port: PORT, host: HOST, reusePort });
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  return (server.address() as AddressInfo).port;
}

/** The API in one thread: the application and the server that listens for it. */
export class ApiServer {
  readonly application: Application;
  /** Lines for the person who started the process. */
  readonly lines: readonly string[];
  readonly #server: Server;
  readonly #rewriter: Rewriter | null;
  readonly #log: Log;

  private constructor(application: Application, server: Server, rewriter: Rewriter | null, lines: string[], log: Log) {
    this.application = application;
    this.lines = lines;
    this.#server = server;
    this.#rewriter = rewriter;
    this.#log = log;
  }

  /** Opens the releases and listens. Throws when the process cannot serve. */
  static async start(
    config: Config,
    log: Log,
    { credentials, builds = false, thread }: ServerOptions = {},
  ): Promise<ApiServer> {
    const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: ratio } = config;
    if (endpoint !== undefined) {
      const { startTracing } = await import('../data/model/opentelemetry.ts');
      startTracing({ ratio, service: 'dataset-register', outgoing: true });
    }
    const settings = await settingsOf(config, log);
    restrictDataDir(config.DATA_DIR, log.info);
    const application = await compose({
      ...settings,
      ...(thread ? { shared: thread.shared } : { storage: await storageOf(config) }),
      ...(thread?.writerPort && { writerPort: thread.writerPort }),
    });
    const { register } = application;
    const traces = tracing();
    const listener = traces ? traceRequests(application.listener(), traces) : application.listener();
    // Requests without a body get no events of a body: nothing reads them.
    const options = {
      maxHeaderSize: MAX_HEADER,
      keepAliveTimeout: IDLE,
      optimizeEmptyRequests: true,
      requireHostHeader: false,
      ...ARRIVAL,
    };
    const server = createServer(options, listener);
    answerClientErrors(server, { base_url: config.BASE_URL, longest: MAX_HEADER });
    logRequests(server, log);
    closeStalled(server);
    if (thread) balanceConnections(server, thread.place);
    const port = await listen(server, config, thread !== undefined);
    const open = settings.packs.filter(({ id }) => register.state(id) === 'open').length;
    const lines = [
      `Dataset register: ${open} of ${settings.packs.length} datasets at ${config.BASE_URL}, listening on ${config.HOST}:${port}`,
      ...(await pendingBuilds(config, register, builds)),
    ];
    const rebuilds = (thread?.rebuilds ?? true) && canRewrite();
    const rewriter = rebuilds
      ? openRewriter({ config, ...(credentials && { credentials }), register, log: log.info })
      : null;
    return new ApiServer(application, server, rewriter, lines, log);
  }

  /**
   * Looks for new releases and overlay changes. `packs`: the packs from now on; null: as before. Returns a line about each
   * dataset that answers for the first time. Never throws.
   */
  async look(packs: readonly Pack[] | null): Promise<string[]> {
    try {
      const { register } = this.application;
      if (packs !== null) register.setPacks(packs);
      const missing = missingIn(register);
      const looked = this.application.looking();
      await register.refresh();
      looked();
      this.#rewriter?.look();
      this.application.followSql();
      void this.application.sendChanges();
      const opened = missing.flatMap((id) => register.current(id)?.manifest ?? []);
      const { base_url } = this.application.gate;
      return opened.map(
        ({ dataset, records }) => `${dataset} answers now: ${base_url}/datasets/${dataset}/ (${records} records)`,
      );
    } catch (error) {
      this.#log.info(`cannot read new releases: ${(error as Error).message}`);
      return [];
    }
  }

  /** Answers the requests in flight, closes the port and the application. */
  async close(): Promise<void> {
    const server = this.#server;
    server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
    const late = setTimeout(() => server.closeAllConnections(), PATIENCE);
    setTimeout(() => server.closeIdleConnections(), DRAIN);
    // Call close of net only: close of http would cut idle connections at once, perhaps with a request in
    // transit.
    await new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    clearTimeout(late);
    await this.#rewriter?.stop();
    await this.application.close();
    await stopTracing();
    this.#log.close();
  }
}

/**
 * Serves until SIGTERM or SIGINT, follows new releases meanwhile, and then waits for requests in flight.
 * `credentials`: the variables of the environment for the object storage, which child processes get too. `buildEnv`: the
 * environment of a run that builds what has no release yet; null: nothing is built.
 */
export async function serve(
  config: Config,
  credentials: NodeJS.ProcessEnv = {},
  buildEnv: NodeJS.ProcessEnv | null = null,
): Promise<void> {
  const log = openLog({ level: config.LOG_LEVEL, terminal: process.stderr.isTTY === true });
  const server = await ApiServer.start(config, log, { credentials, builds: buildEnv !== null });
  for (const line of server.lines) print(line);
  const builder = buildEnv && startBuilder({ config, env: buildEnv, print });
  const following = new AbortController();
  void server.application.follower?.follow(FOLLOW, following.signal);
  const packs = openLivePacks(config, [...server.application.register.packs.values()], log);
  const looking = setInterval(async () => {
    for (const line of await server.look(await packs.look())) print(line);
  }, LOOK);
  stopOnSignals(config, log, {
    drain: server.application.drain,
    close: () => {
      following.abort();
      clearInterval(looking);
      void builder?.stop();
      void server.close();
    },
  });
}
