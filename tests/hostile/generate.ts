// Hostile calls, drawn from a seed: every declared operation, page and document, with parameters, bodies, headers and
// credentials that no client should send.
import { DOCUMENTS } from '../../api/discovery/index.ts';
import { inputSchema } from '../../api/render/json-schema.ts';
import type { Pack } from '../../packs/define/model.ts';
import { everyCall, type OperationCall } from '../support/every-call.ts';
import { pickOne, type Random } from '../support/random-records.ts';
import { BODIES, CONTENT_TYPES, HEADERS, METHODS, QUERIES, STATEMENTS, TEXTS } from './payloads.ts';
import { rawRequest } from './raw-requests.ts';

export interface HostileCall {
  channel: 'rest' | 'pages' | 'mcp' | 'a2a' | 'sql' | 'money' | 'raw';
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
  /** Bytes for a socket, instead of a request. */
  raw?: Buffer;
  /** Whether the answer must contain no paid value: its caller pays nothing. */
  free: boolean;
}

export interface Targets {
  packs: readonly Pack[];
  /** Slugs of records by dataset. */
  slugs: Record<string, string[]>;
  /** A key with credit, and its id. */
  rich: { id: string; key: string };
  /** A key without credit. */
  poor: string;
  admin: string;
}

/** Pages and documents outside the table of operations. */
const PAGES = [
  ...[
    '/',
    '/search?q=a',
    '/compare/',
    '/sql',
    '/sql?q=SELECT',
    '/keys',
    '/keys/',
    '/account',
    '/account/',
    '/docs',
    '/docs/',
  ],
  ...['/ops', '/ops/review', '/ops/keys?sort=-balance', '/ops/log', '/ops/stats.json?span=week', '/ops/review.json'],
  ...[
    '/ops/metrics',
    '/status/',
    '/connect/',
    '/pricing/',
    '/guides/api/',
    '/guides/',
    '/feeds/',
    '/ogc',
    '/ogc/collections',
  ],
  ...['/ogc/collections/airports/items?limit=5', '/catalog.ttl', '/healthz', '/readyz', '/metrics', '/robots.txt'],
  ...['/sitemap.xml', '/sitemap/0.xml', '/files/', '/oauth/authorize?client_id=x&redirect_uri=https://evil.example/'],
  ...[
    '/oauth/register',
    '/oauth/token',
    '/oauth/revoke',
    '/oauth/jwks.json',
    '/webhooks/stripe',
    '/.well-known/did.json',
  ],
  ...['/.well-known/agent-card.json', '/.well-known/http-message-signatures-directory', '/_astro/x.js', '/favicon.ico'],
];

/** Operations after which a key does not work: called without one. */
const ENDING = /^keys_(close|rotate|revoke)$/;

const encode = (text: string) => encodeURIComponent(text.toWellFormed());

export class Generator {
  readonly #next: Random;
  readonly #targets: Targets;
  readonly #calls: OperationCall[];
  readonly #pages: string[];
  #address = 0;

  constructor(next: Random, targets: Targets) {
    this.#next = next;
    this.#targets = targets;
    const { packs, slugs, rich } = targets;
    this.#calls = everyCall(packs, slugs, { id: rich.id, key: rich.key, token: 'forged-token' });
    const pages = packs.flatMap(({ id }) => {
      const [slug = 'x'] = slugs[id] ?? [];
      return [
        ...[
          `/datasets/${id}/`,
          `/datasets/${id}/${slug}`,
          `/datasets/${id}/${slug}.md`,
          `/datasets/${id}/${slug}?embed=1`,
        ],
        ...[`/compare/${id}?ids=${slug}`, `/feeds/${id}.xml`, `/feeds/${id}.json?q=a`, `/files/${id}/public.parquet`],
        ...[`/files/${id}/edits.json`, `/datasets/${id}/changes`, `/ogc/collections/${id}/items?bbox=1,2,3`],
        ...[`/datasets/${id}/llms.txt`, `/embed/${id}/${slug}`, `/datasets/${id}/${slug}/embed`],
      ];
    });
    this.#pages = [...PAGES, ...pages, ...DOCUMENTS.map(({ path }) => path.replaceAll(/:\w+/g, 'x'))];
  }

  /** The next call. */
  draw(): HostileCall {
    const share = this.#next();
    if (share < 0.42) return this.#rest();
    if (share < 0.58) return this.#page();
    if (share < 0.76) return this.#mcp();
    if (share < 0.84) return this.#a2a();
    if (share < 0.88) return this.#sql();
    if (share < 0.95) return this.#money();
    return { ...this.#call('raw', 'GET', '/'), raw: rawRequest(this.#next) };
  }

  #one<T>(list: readonly T[]): T {
    return pickOne(this.#next, list);
  }

  #text = () => this.#one(TEXTS);

  /** A caller with a credential: most have none that works. */
  #caller(): { headers: Record<string, string>; free: boolean } {
    const { rich, poor, admin } = this.#targets;
    this.#address = (this.#address + 1) % 4000;
    // A share of the callers has one address, so that limits are met too.
    const last = this.#next() < 0.03 ? 0 : this.#address;
    const headers: Record<string, string> = { 'X-Forwarded-For': `20.7.${last >> 8}.${last & 255}` };
    const share = this.#next();
    if (share < 0.45) return { headers, free: true };
    if (share < 0.55) return { headers: { ...headers, Authorization: `Bearer ${poor}` }, free: true };
    if (share < 0.65) return { headers: { ...headers, Authorization: `Bearer ${rich.key}` }, free: false };
    if (share < 0.68) return { headers: { ...headers, Authorization: `Bearer ${admin}` }, free: false };
    const forged = [
      `Bearer dsr_${'0'.repeat(43)}`,
      `Bearer ${rich.key.slice(0, -1)}`,
      `Bearer ${rich.key.toUpperCase()}`,
      `Bearer ${admin} x`,
      'Bearer ',
      'Basic YTpi',
      `Bearer ${'a'.repeat(5000)}`,
      `Bearer eyJhbGciOiJub25lIn0.${Buffer.from('{"sub":"admin"}').toString('base64url')}.`,
      'Bearer ../../etc/passwd',
    ];
    const named = this.#one(['Authorization', 'X-API-Key', 'X-Api-Key']);
    return { headers: { ...headers, [named]: this.#one(forged) }, free: true };
  }

  #call(channel: HostileCall['channel'], method: string, path: string, body?: string | Buffer): HostileCall {
    const { headers, free } = this.#caller();
    const call = { channel, method, path, headers, free, ...(body === undefined ? {} : { body }) };
    if (this.#next() < 0.25) this.#addHeaders(call.headers);
    if (this.#next() < 0.06) call.method = this.#one(METHODS);
    return call;
  }

  #addHeaders(headers: Record<string, string>): void {
    const [name, value] = this.#one(HEADERS);
    // Node refuses to send other characters; raw requests do.
    headers[name] = (value ?? this.#text()).replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 12_000);
  }

  /** An operation with one to three hostile parameters, a hostile part of the path, or a hostile body. */
  #rest(): HostileCall {
    const { operation, path, init, dataset } = this.#one(this.#calls);
    if (ENDING.test(operation.name)) return this.#forged(operation.rest.method, path);
    const [place = '', query = ''] = path.split('?');
    if (init.body !== undefined) {
      const body = this.#next() < 0.5 ? this.#one(BODIES) : this.#mutated(init.body);
      const call = this.#call('rest', init.method ?? 'POST', place, body);
      call.headers['Content-Type'] ??= this.#next() < 0.7 ? 'application/json' : this.#one(CONTENT_TYPES);
      return call;
    }
    const pack = this.#targets.packs.find(({ id }) => id === dataset);
    const schema = pack === undefined ? {} : inputSchema(operation, pack);
    const names = Object.keys((schema['properties'] as object | undefined) ?? {}).concat('limit', 'fields', 'format');
    const parts = this.#next() < 0.7 && query !== '' ? [query] : [];
    const hostile = this.#one([0, 0, 1, 1, 1, 2, 3]);
    for (let i = 0; i < hostile; i += 1) {
      const name = this.#one(names);
      const value = encode(this.#text());
      parts.push(this.#next() < 0.25 ? this.#one(QUERIES)(name, value.slice(0, 500)) : `${name}=${value}`);
    }
    return this.#call(
      'rest',
      operation.rest.method,
      (hostile === 0 ? place : this.#place(place)) + (parts.length > 0 ? `?${parts.join('&')}` : ''),
    );
  }

  /** A call without a credential that works. */
  #forged(method: string, path: string): HostileCall {
    const call = this.#call('rest', method, path, this.#one(BODIES));
    return {
      ...call,
      free: true,
      headers: { ...call.headers, Authorization: `Bearer ${this.#one(['x', 'dsr_x', 'null'])}` },
    };
  }

  /** A path, in a third of the draws with a hostile part. */
  #place(path: string): string {
    const share = this.#next();
    if (share > 0.35) return path;
    const parts = path.split('/');
    const i = 1 + Math.floor(this.#next() * (parts.length - 1));
    if (share < 0.2) parts[i] = encode(this.#text());
    else if (share < 0.24)
      parts[i] = `${parts[i]}${this.#one(['.md', '.json', '.csv', '.exe', '.', '%00', ';a=b', '/', '//'])}`;
    else if (share < 0.28) parts.splice(i, 0, this.#one(['..', '.', '%2e%2e', '', '%2f', '..%5c']));
    else if (share < 0.32) parts[i] = this.#one(['%zz', '%ff', '%', '%ED%A0%80', '%c0%ae']);
    else parts[i] = parts[i]!.toUpperCase();
    return parts.join('/');
  }

  /** A JSON body with one value replaced, or one member added. */
  #mutated(text: unknown): string {
    const body = JSON.parse(String(text)) as Record<string, unknown>;
    const name = this.#one([...Object.keys(body), '__proto__', 'key_id', 'dataset', 'entity_id']);
    const hostile: unknown = this.#one<() => unknown>([
      () => this.#text(),
      () => Number(this.#text()),
      () => [this.#text()],
      () => ({ [this.#text()]: this.#text() }),
      () => null,
      () => [[[[[]]]]],
      () => -1,
      () => 1e308,
      () => true,
    ])();
    return JSON.stringify(body).replace(
      /\}$/,
      `${Object.keys(body).length > 0 ? ',' : ''}${JSON.stringify(name)}:${JSON.stringify(hostile)}}`,
    );
  }

  #page(): HostileCall {
    const path = this.#one(this.#pages);
    const [place = '', query = ''] = path.split('?');
    const name = this.#one([
      'q',
      'sort',
      'page',
      'ids',
      'filter',
      'cursor',
      'embed',
      'theme',
      'fields',
      'client_id',
      'state',
    ]);
    const added = this.#next() < 0.6 ? `${name}=${encode(this.#text())}` : this.#one(QUERIES)(name, 'a');
    const call = this.#call('pages', 'GET', `${this.#place(place)}?${query}${query === '' ? '' : '&'}${added}`);
    if (this.#next() < 0.2) {
      call.method = 'POST';
      call.body = this.#one([...BODIES, `q=${encode(this.#text())}`]);
      call.headers['Content-Type'] ??= this.#one(CONTENT_TYPES);
    }
    call.headers['Accept'] ??= this.#one(['text/html', 'text/markdown', 'application/json', '*/*', 'image/*']);
    return call;
  }

  /** Arguments for a tool or a skill: a declared one with hostile values. */
  #arguments(): { name: string; args: Record<string, unknown> } {
    const { operation, dataset, path } = this.#one(this.#calls);
    const pack = this.#targets.packs.find(({ id }) => id === dataset);
    const query = Object.fromEntries(new URLSearchParams(path.split('?')[1] ?? ''));
    const schema = pack === undefined ? {} : inputSchema(operation, pack);
    const names = Object.keys((schema['properties'] as object | undefined) ?? {}).concat(
      'limit',
      'dataset',
      'entity_id',
      'filters',
    );
    const hostile: unknown = this.#one<() => unknown>([
      () => this.#text(),
      () => this.#text(),
      () => null,
      () => [this.#text(), null, 1],
      () => ({ [this.#text()]: this.#text() }),
      () => 1e308,
      () => -1,
      () => [[[]]],
    ])();
    const first = dataset === null ? undefined : this.#targets.slugs[dataset]?.[0];
    const args = { ...(dataset !== null && { dataset }), ...(first !== undefined && { entity_id: first }), ...query };
    return { name: operation.name, args: { ...args, [this.#one(names)]: hostile } };
  }

  #mcp(): HostileCall {
    const { name, args } = this.#arguments();
    const uri = this.#one([
      'service://x/llms.txt',
      'file:///etc/passwd',
      'service://../../',
      'ui://record',
      this.#text(),
    ]);
    const request = (method: string, params: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
    const message: unknown = this.#one<() => unknown>([
      () => request('tools/call', { name, arguments: args }),
      () => request('tools/call', { name, arguments: args, _meta: { [this.#text()]: this.#text() } }),
      () => request('tools/call', { name: this.#text(), arguments: args }),
      () => request('tools/call', { name, arguments: this.#text() }),
      () => request('tools/call', null),
      () => request('initialize', { protocolVersion: this.#text(), capabilities: null }),
      () =>
        request('initialize', {
          protocolVersion: '2025-06-18',
          capabilities: {},
          clientInfo: { name: 'x', version: 'x' },
        }),
      () => request('notifications/initialized', {}, undefined),
      () => request('tools/list', { cursor: this.#text() }),
      () => request('resources/read', { uri }),
      () => request('resources/list', {}, { a: 1 }),
      () => request('prompts/get', { name: this.#text(), arguments: { a: 1 } }),
      () =>
        request('completion/complete', {
          ref: { type: 'ref/resource', uri },
          argument: { name: 'x', value: this.#text() },
        }),
      () => request('logging/setLevel', { level: this.#text() }),
      () => request('resources/subscribe', { uri }),
      () => request('notifications/cancelled', { requestId: this.#text() }, undefined),
      () => request('server/discover', { x: this.#text() }),
      () => request(this.#text(), {}),
      () => request('ping', undefined, 1e308),
      () => ({ jsonrpc: '1.0', id: 1, method: 'ping' }),
      () => ({ jsonrpc: '2.0', id: 1, result: {} }),
      () => [request('ping', {}), request('tools/list', {}), request('tools/call', { name, arguments: args })],
      () => Array.from({ length: 200 }, (_, id) => request('ping', {}, id)),
      () => [],
    ])();
    const body = this.#next() < 0.1 ? this.#one(BODIES) : JSON.stringify(message);
    const call = this.#call(
      'mcp',
      'POST',
      this.#one(['/mcp', '/mcp', '/mcp', '/mcp/account', '/mcp?tools=core', '/mcp/x']),
      body,
    );
    call.headers['Content-Type'] ??= this.#next() < 0.9 ? 'application/json' : this.#one(CONTENT_TYPES);
    call.headers['Accept'] ??= this.#next() < 0.8 ? 'application/json, text/event-stream' : 'text/event-stream';
    call.headers['MCP-Protocol-Version'] = this.#one(['2025-06-18', '2025-11-25', '2026-07-28', '1999-01-01', 'x']);
    if (this.#next() < 0.2) call.headers['Mcp-Session-Id'] = this.#one(['x', '0'.repeat(64), '../a']);
    if (this.#next() < 0.05) call.method = this.#one(['GET', 'DELETE']);
    return call;
  }

  #a2a(): HostileCall {
    const { name, args } = this.#arguments();
    const message: unknown = this.#one<() => unknown>([
      () => ({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { skill: name, ...args } }] } }),
      () => ({ message: { messageId: this.#text(), role: this.#text(), parts: [{ text: this.#text() }] } }),
      () => ({
        message: { messageId: 'm', role: 'ROLE_USER', taskId: this.#text(), contextId: this.#text(), parts: [] },
      }),
      () => ({
        message: { messageId: 'm', role: 'ROLE_USER', parts: [{ file: { uri: 'file:///etc/passwd' } }, null, 1] },
      }),
      () => ({
        message: { messageId: 'm', role: 'ROLE_USER', parts: Array.from({ length: 2000 }, () => ({ text: 'a' })) },
      }),
      () => ({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: this.#text() } }),
      () => ({ message: null, configuration: { blocking: this.#text() } }),
    ])();
    const path = this.#one([
      '/a2a/v1/message:send',
      '/a2a/v1/message:send',
      '/a2a/v1/message:stream',
      '/a2a/v1/tasks/x',
      '/a2a',
      '/a2a/v1/tasks/..%2f',
    ]);
    const body = this.#next() < 0.1 ? this.#one(BODIES) : JSON.stringify(message);
    const call = this.#call('a2a', 'POST', path, body);
    call.headers['Content-Type'] ??= this.#next() < 0.9 ? 'application/json' : this.#one(CONTENT_TYPES);
    call.headers['A2A-Version'] = this.#one(['1.0', '1.0', '0.3', '9', 'x']);
    return call;
  }

  #sql(): HostileCall {
    const dataset = this.#one(this.#targets.packs).id;
    const statement =
      this.#next() < 0.8 ? this.#one(STATEMENTS) : `SELECT * FROM "${dataset}" WHERE name = '${this.#text()}'`;
    const body = JSON.stringify({ sql: statement, ...(this.#next() < 0.3 && { parameters: [this.#text()] }) });
    const call = this.#call('sql', 'POST', this.#one(['/v1/sql', `/v1/${dataset}/sql`]), body);
    call.headers['Content-Type'] ??= 'application/json';
    return call;
  }

  /** Forged payments, webhooks and sign-ins. */
  #money(): HostileCall {
    const { packs, slugs } = this.#targets;
    const { id } = this.#one(packs);
    const payment = {
      x402Version: this.#one([1, 2, 99, 'x']),
      scheme: this.#one(['exact', this.#text()]),
      network: 'eip155:8453',
      accepted: {
        scheme: 'exact',
        network: 'eip155:8453',
        amount: this.#one(['0', '-1', '1', this.#text()]),
        payTo: '0x0',
        asset: '0x0',
      },
      payload: {
        signature: `0x${'1'.repeat(130)}`,
        authorization: {
          from: '0x1',
          to: '0x2',
          value: this.#text(),
          validAfter: '0',
          validBefore: '99999999999',
          nonce: this.#text(),
        },
      },
    };
    const header = Buffer.from(this.#next() < 0.8 ? JSON.stringify(payment) : this.#text()).toString('base64');
    const path = this.#one([
      ...[`/v1/${id}/entities?limit=100`, `/v1/${id}/entities/${slugs[id]?.[1]}`, '/v1/keys/prepaid', '/v1/quote'],
      ...[
        '/webhooks/stripe',
        '/oauth/token',
        '/oauth/register',
        '/v1/keys/topup',
        '/v1/claim/verify?token=x',
        '/ops/sign-in',
      ],
    ]);
    const isRead = path.includes('/entities') || path.includes('verify');
    const call = this.#call('money', isRead ? 'GET' : 'POST', path, isRead ? undefined : this.#one(BODIES));
    call.headers[this.#one(['X-PAYMENT', 'PAYMENT-SIGNATURE', 'X-Payment'])] = header.slice(0, 12_000);
    call.headers['Stripe-Signature'] = `t=1,v1=${'0'.repeat(64)}`;
    if (!isRead) call.headers['Content-Type'] ??= this.#one(CONTENT_TYPES);
    return call;
  }
}
