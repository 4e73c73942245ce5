// The HTTP application as a function of its parts: no socket, no clock and no settings of its own.
import { Hono } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';
import type { Recovery } from './accounts/accounts.ts';
import { mountRecover } from './accounts/recover-page.ts';
import { mountAccount } from './accounts/routes.ts';
import type { AccountServer } from './accounts/server.ts';
import type { CardKey } from './channels/a2a/card.ts';
import { mountA2a } from './channels/a2a/endpoint.ts';
import { type KeyDirectory, mountDirectory } from './channels/key-directory.ts';
import { mountMcp } from './channels/mcp/endpoint.ts';
import { mountRest } from './channels/rest/rest.ts';
import { type DocumentDeps, mountDocuments } from './channels/static/documents.ts';
import { mountDownload } from './channels/static/download.ts';
import { mountShareImages } from './channels/static/share-images.ts';
import { mountParts, mountStatic } from './channels/static/static.ts';
import { type CheckoutPages, mountCheckout, mountWebhook, type WebhookReceiver } from './checkout/routes.ts';
import { toApiError } from './contract/errors.ts';
import type { CallDeps } from './gate/execute.ts';
import { type Http, type NodeBindings, pathOf, readRequest, routedPath } from './http/request.ts';
import { errorReply, preflight, type Reply, responseOf } from './http/respond.ts';
import { StreamLimit } from './http/streams.ts';
import { mountOAuth } from './oauth/routes.ts';
import type { OAuthServer } from './oauth/server.ts';
import { PAGE_OPERATIONS } from './operations/table.ts';
import { mountMetrics, mountOps } from './ops/routes.ts';
import type { OpsServer } from './ops/server.ts';
import { mountOwners } from './owners/routes.ts';

/** Parts of the app. The entry point builds them from the settings, tests use doubles. */
export interface AppDeps {
  gate: CallDeps;
  /** Opt-outs and claims, with the pages that their mails link to. */
  owners: Parameters<typeof mountOwners>[1]['owners'];
  /** The pages of keys and accounts; absent in a benchmark. */
  account?: AccountServer;
  /** Rotation of lost keys. */
  recovery: Recovery;
  /** Routes of the checkout. */
  checkout: CheckoutPages & WebhookReceiver;
  /** DIST_DIR. */
  dist: string;
  /** Origins of web pages that may use MCP, besides our own. */
  mcp_origins?: readonly string[];
  /** Key that signs the agent card; absent: the card is not signed. */
  cardKey?: () => Promise<CardKey>;
  started_at: Date;
  /** See DocumentDeps; absent: always ready, no object storage. */
  readiness?: DocumentDeps['readiness'];
  storage?: DocumentDeps['storage'];
  /** The key directory of our crawler; absent without a crawler. */
  directory?: () => Promise<KeyDirectory>;
  /** The authorization server; absent in a benchmark. */
  oauth?: OAuthServer;
  /** The operators' pages; absent in a benchmark. */
  ops?: OpsServer;
  /** Text of the operators' metrics; absent in a benchmark. */
  metrics?: () => Promise<{ type: string; text: string }>;
  /** Receives every internal error. */
  report(error: unknown, request_id: string): void;
}

/** Builds the app. `app.request()` calls it without a socket. */
export function createApp(deps: AppDeps): Hono<{ Bindings: NodeBindings }> {
  const { gate, report, started_at, oauth } = deps;
  const channel = { gate, report, started_at, root: deps.dist, pages: PAGE_OPERATIONS, streams: new StreamLimit() };
  const app = new Hono<{ Bindings: NodeBindings }>({
    // Handlers never call `next`: of several matches, the first one answers.
    router: new TrieRouter(),
    getPath: (request) => routedPath(pathOf(request.url)),
  });
  mountMcp(app, { ...channel, mcp_origins: deps.mcp_origins ?? [] });
  app.options('/*', (c) => preflight(readRequest(gate, c).request_id));
  mountParts(app, channel);
  mountDownload(app, channel);
  mountRecover(app, { ...channel, recovery: deps.recovery });
  if (deps.account) mountAccount(app, { ...channel, account: deps.account });
  mountOwners(app, { ...channel, owners: deps.owners });
  if (deps.metrics) mountMetrics(app, channel, deps.metrics);
  if (deps.ops) mountOps(app, { ...channel, ops: deps.ops });
  mountCheckout(app, { ...channel, checkout: deps.checkout });
  mountWebhook(app, { ...channel, checkout: deps.checkout });
  if (deps.directory) mountDirectory(app, channel, deps.directory);
  if (oauth) mountOAuth(app, { ...channel, oauth });
  mountA2a(app, { ...channel, cardKey: deps.cardKey });
  mountDocuments(app, {
    ...channel,
    readiness: deps.readiness ?? (async () => ({ reasons: [], warnings: [] })),
    storage: deps.storage ?? (() => null),
  });
  mountRest(app, channel);
  mountShareImages(app, channel);
  mountStatic(app, channel);
  const fail = errorHandler(deps);
  app.onError((error, c) => responseOf(fail(error, c)));
  return app;
}

/** Error handler: converts a thrown value to an error response, and reports internal errors. */
export function errorHandler({ gate, report }: Pick<AppDeps, 'gate' | 'report'>): (error: unknown, c: Http) => Reply {
  return (error, c) => {
    const { accept, headers, request_id } = readRequest(gate, c);
    const apiError = toApiError(error);
    if (apiError.code === 'internal') report(error, request_id);
    return errorReply(apiError, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
  };
}
