// `subscriptions/listen` (MCP 2026-07-28): a stream of `notifications/resources/updated` for the guides and records that
// a client names. The SDK writes the stream; this module bounds it and finds the changes.
import { setTimeout as sleep } from 'node:timers/promises';
import { createMcpHandler, type Server, type ServerEventBus } from '@modelcontextprotocol/server';
import { getChanges } from '../../../data/queries/changes.ts';
import { type Release, releaseTag } from '../../../data/releases/release.ts';
import { resourceAt } from './resources.ts';
import type { Session } from './session.ts';

/** Streams of this process, and of one caller; resources of a stream; changes that are read at once. */
const [STREAMS, OF_CALLER, RESOURCES, PAGE] = [64, 4, 100, 1000];
/** Milliseconds that a stream lasts, and between two looks for a newer state of its datasets. */
const [LIFE, POLL] = [600_000, 1000];

/** A resource that a stream follows; `entity`: id or slug of a record, null for the guide of the dataset. */
interface Followed {
  uri: string;
  dataset: string;
  entity: string | null;
}

/** What a stream has seen of a dataset; `since`: microseconds since 1970. */
interface Seen {
  tag: string;
  release: string;
  since: number;
}

/** Open streams by caller. */
const open = new Map<string, number>();

/** The part of a request that names resources, not yet checked. */
interface ListenMessage {
  params?: { notifications?: { resourceSubscriptions?: unknown } | null };
}

/** The request with the resources that exist, if it is valid; the acknowledgement of the SDK names those. */
function withResources(message: object, resourceSubscriptions: string[]): object {
  const { params } = message as ListenMessage;
  if (!Array.isArray(params?.notifications?.resourceSubscriptions)) return message;
  return { ...message, params: { ...params, notifications: { ...params.notifications, resourceSubscriptions } } };
}

/** The resources of a request that exist. */
async function followedOf({ gate }: Session, message: unknown): Promise<Followed[]> {
  const { params } = message as ListenMessage;
  const uris = params?.notifications?.resourceSubscriptions;
  const followed: Followed[] = [];
  if (!Array.isArray(uris)) return followed;
  for (const uri of new Set(uris.slice(0, RESOURCES))) {
    const { args } = (typeof uri === 'string' && resourceAt(uri)) || {};
    const { dataset = '', entity_id } = args ?? {};
    const leases = await gate.lease(dataset).catch(() => null);
    const { release } = leases ?? {};
    const ordinals = release && entity_id ? await release.engine.resolve([entity_id.toLowerCase()]) : [0];
    leases?.done();
    if (release && ordinals[0] != null) followed.push({ uri: uri as string, dataset, entity: entity_id ?? null });
  }
  return followed;
}

/** Reads the changes of a release after a moment, and the moment of the last one. */
async function changesAfter(release: Release, since: number) {
  const changed = new Set<string>();
  const open = new Set(release.pack.attributes.filter((attribute) => attribute.public).map(({ name }) => name));
  for (;;) {
    const { items } = await getChanges(release, { since, limit: PAGE }, {});
    for (const { entity_id, slug, attribute } of items)
      if (attribute === undefined || open.has(attribute)) changed.add(entity_id).add(slug);
    const last = items.at(-1)?.recorded_at;
    if (last !== undefined) since = Math.floor(Date.parse(last)) * 1000 + Number(last.slice(-4, -1));
    if (items.length < PAGE) return { changed, since };
  }
}

/** Calls `changed` with each resource whose text is another, until the signal aborts. */
async function follow(
  { gate }: Session,
  followed: readonly Followed[],
  signal: AbortSignal,
  changed: (uri: string) => void,
): Promise<void> {
  const seen = new Map<string, Seen>();
  const datasets = new Set(followed.map(({ dataset }) => dataset));
  while (!signal.aborted) {
    for (const dataset of datasets) {
      const leases = await gate.lease(dataset).catch(() => null);
      try {
        if (!leases?.release || signal.aborted) continue;
        const { release } = leases;
        const { release: name, recorded_to } = release.manifest;
        const tag = releaseTag(release);
        const before = seen.get(dataset);
        if (before?.tag === tag) continue;
        const after = await changesAfter(release, before?.since ?? recorded_to ?? Date.now() * 1000);
        seen.set(dataset, { tag, release: name, since: after.since });
        if (before === undefined) continue;
        for (const { uri, entity } of followed.filter((resource) => resource.dataset === dataset))
          if (entity === null ? name !== before.release : after.changed.has(entity)) changed(uri);
      } finally {
        leases?.done();
      }
    }
    await sleep(POLL, undefined, { signal, ref: false }).catch(() => {});
  }
}

/**
 * Opens a stream. It ends when the client disconnects, and by the empty result of the protocol after ten minutes. Too
 * many streams of the caller or of the process: the SDK's error "Subscription limit reached".
 */
export async function listen(
  request: Request,
  message: object,
  session: Session,
  server: () => Server,
): Promise<Response> {
  const { credential, address } = session.request.visitor;
  const caller = credential === null ? address : JSON.stringify(credential);
  const followed = await followedOf(session, message);
  const mine = open.get(caller) ?? 0;
  const all = [...open.values()].reduce((sum, streams) => sum + streams, 0);
  const bus: ServerEventBus = {
    publish: () => {},
    subscribe(listener) {
      const ended = new AbortController();
      open.set(caller, (open.get(caller) ?? 0) + 1);
      const timer = setTimeout(() => void handler.close(), LIFE);
      timer.unref();
      follow(session, followed, ended.signal, (uri) => listener({ kind: 'resource_updated', uri })).catch((error) => {
        if (!ended.signal.aborted) session.report(error, session.request.request_id);
        void handler.close();
      });
      return () => {
        clearTimeout(timer);
        ended.abort();
        const left = (open.get(caller) ?? 1) - 1;
        if (left > 0) open.set(caller, left);
        else open.delete(caller);
      };
    },
  };
  const maxSubscriptions = mine >= OF_CALLER || all >= STREAMS ? 0 : 1;
  const handler = createMcpHandler(server, { legacy: 'reject', bus, maxSubscriptions });
  const uris = followed.map(({ uri }) => uri);
  return handler.fetch(request, { parsedBody: withResources(message, uris) });
}
