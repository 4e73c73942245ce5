// The HTTP application as a function of its parts: no socket, no clock and no settings of its own.
import { Hono } from 'hono';
import type { CardKey } from './channels/a2a/card.ts';
import { a2aTable } from './channels/a2a/endpoint.ts';
import { mountMcp } from './channels/mcp/endpoint.ts';
import { ogcTable } from './channels/ogc.ts';
import { mountRest } from './channels/rest/rest.ts';
import { type DocumentDeps, documentsTable, downloadTable } from './channels/static/documents.ts';
import { pageRowsTable } from './channels/static/page-rows.ts';
import { partsTable, staticTable } from './channels/static/static.ts';
import { toApiError } from './contract/errors.ts';
import { type NodeBindings, pathOf, readRequest, routedPath } from './http/request.ts';
import { errorResponse, preflight } from './http/respond.ts';
import { FirstRouteRouter } from './http/router.ts';
import { mountTable, type RouteTable, type Services } from './http/server.ts';
import { StreamLimit } from './http/streams.ts';
import { PAGE_OPERATIONS } from './operations/table.ts';
import { ownersTable } from './owners/routes.ts';

/** Parts of the app, which the composition root builds. */
export interface AppDeps extends Pick<DocumentDeps, 'started_at' | 'readiness' | 'storage' | 'progress'>, Services {
  /** Opt-outs and claims, with the pages that their mails link to. */
  owners: Parameters<typeof ownersTable>[0]['owners'];
  /** Further routes, in the order in which they are matched. */
  tables: readonly RouteTable[];
  /** DIST_DIR. */
  dist: string;
  /** Origins of web pages that may use MCP, besides our own. */
  mcp_origins?: readonly string[];
  /** Key that signs the agent card. */
  cardKey: () => Promise<CardKey>;
}

/** Builds the app. `app.request()` calls it without a socket. */
export function createApp(deps: AppDeps): Hono<{ Bindings: NodeBindings }> {
  const { gate, report, started_at } = deps;
  const channel = {
    ...{ gate, report, started_at, root: deps.dist, pages: PAGE_OPERATIONS, streams: new StreamLimit() },
    progress: deps.progress,
  };
  const app = new Hono<{ Bindings: NodeBindings }>({
    // Handlers never call `next`: of several routes, the first one answers.
    router: new FirstRouteRouter(),
    getPath: (request) => routedPath(pathOf(request.url)),
  });
  mountMcp(app, { ...channel, mcp_origins: deps.mcp_origins ?? [] });
  app.options('/*', (c) => preflight(readRequest(gate, c).request_id));
  const mount = (tables: readonly RouteTable[]) => {
    for (const table of tables) mountTable(app, channel, table);
  };
  mount([
    partsTable(channel),
    downloadTable(gate),
    ...deps.tables,
    ownersTable({ ...channel, owners: deps.owners }),
    ogcTable(gate),
    a2aTable({ ...channel, cardKey: deps.cardKey }),
    documentsTable({ ...channel, readiness: deps.readiness, storage: deps.storage }),
  ]);
  mountRest(app, channel);
  mount([pageRowsTable(channel), staticTable(channel)]);
  app.onError((error, c) => {
    const { accept, headers, request_id } = readRequest(gate, c);
    const apiError = toApiError(error);
    if (apiError.code === 'internal') report(error, request_id);
    return errorResponse(apiError, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
  });
  return app;
}
