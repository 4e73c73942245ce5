// `subscriptions/listen` (MCP 2026-07-28): a stream of `notifications/resources/updated` for the guides and records that
// a client names. The SDK writes the stream; this module bounds it and finds the changes.
import { setTimeout as sleep } from 'node:timers/promises';
import { createMcpHandler, type Server, type ServerEventBus } from '@modelcontextprotocol/server';
import { getChanges } from '../../../data/queries/changes.ts';
import { type Release, releaseTag } from '../../../data/releases/release.ts';
import { ANONYMOUS, holderOf } from '../../access/caller.ts';
import { ApiError, errorBody } from '../../contract/errors.ts';
import { resourceAt } from './resources.ts';
import type { Session } from './session.ts';

/**
 * Streams of this process, those that callers without a key may hold, and streams of one caller; a caller with a key
 * takes the place of the oldest one without when all are taken.
 */
export const STREAMS = { all: 64, anonymous: 48, of_caller: 4 } as const;
/** Resources of a stream; changes that are read at once. */
const [RESOURCES, PAGE] = [100, 1000];
/** Seconds after which a caller without a place may try again. */
const RETRY = 60;
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

/** An open stream. */
interface Stream {
  caller: string;
  keyed: boolean;
  end(): void;
}

/** Open streams, the oldest first. */
const open = new Set<Stream>();

/**
 * Adds a stream, and ends the oldest one without a key for it if all are taken. Returns an error for a caller with too
 * many, or when no place is left for it; else null.
 */
function takePlace(stream: Stream): ApiError | null {
  const streams = [...open];
  const retry = { retry_after_seconds: RETRY };
  if (streams.filter(({ caller }) => caller === stream.caller).length >= STREAMS.of_caller)
    return new ApiError('rate_limited', `A caller has at most ${STREAMS.of_caller} streams; end one of yours.`, retry);
  const anonymous = streams.filter(({ keyed }) => !keyed);
  const isFull = streams.length >= STREAMS.all;
  if (stream.keyed ? isFull && anonymous.length === 0 : isFull || anonymous.length >= STREAMS.anonymous)
    return new ApiError('unavailable', 'All streams are taken; callers with an API key have a share of them.', retry);
  if (isFull) leave(anonymous[0]!);
  open.add(stream);
  return null;
}

/** Ends a stream; its place is free at once. */
function leave(stream: Stream): void {
  open.delete(stream);
  stream.end();
}

/** Who holds a stream. */
async function placeOf({ gate, request }: Session): Promise<Pick<Stream, 'caller' | 'keyed'>> {
  const { credential, address } = request.visitor;
  const caller = credential && (await gate.identify(credential));
  return { caller: holderOf(caller ?? ANONYMOUS, address), keyed: caller !== null };
}

/** The refusal as an error of the protocol, whose data has the time after which the client may try again. */
function refusal(error: ApiError, message: object, { gate, request }: Session): Response {
  const data = errorBody(error, { base_url: gate.base_url, request_id: request.request_id });
  const { id = null } = message as { id?: unknown };
  const body = { jsonrpc: '2.0', id, error: { code: -32_000, message: error.message, data } };
  return Response.json(body, { headers: { 'Retry-After': String(RETRY) } });
}

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
 * Opens a stream. It ends when the client disconnects, and by the empty result of the protocol after ten minutes or when
 * it gives way.
 */
export async function listen(
  request: Request,
  message: object,
  session: Session,
  server: () => Server,
): Promise<Response> {
  const followed = await followedOf(session, message);
  const stream: Stream = { ...(await placeOf(session)), end: () => void handler.close() };
  let isOpen = false;
  const bus: ServerEventBus = {
    publish: () => {},
    subscribe(listener) {
      isOpen = true;
      const ended = new AbortController();
      const timer = setTimeout(stream.end, LIFE);
      timer.unref();
      follow(session, followed, ended.signal, (uri) => listener({ kind: 'resource_updated', uri })).catch((error) => {
        if (!ended.signal.aborted) session.report(error, session.request.request_id);
        void handler.close();
      });
      return () => {
        clearTimeout(timer);
        ended.abort();
        open.delete(stream);
      };
    },
  };
  const handler = createMcpHandler(server, { legacy: 'reject', bus, maxSubscriptions: 1 });
  const refused = takePlace(stream);
  if (refused !== null) return refusal(refused, message, session);
  const uris = followed.map(({ uri }) => uri);
  try {
    return await handler.fetch(request, { parsedBody: withResources(message, uris) });
  } finally {
    // A request without a valid message opens no stream.
    if (!isOpen) open.delete(stream);
  }
}
