// The command `register` of dataset-register-client: its commands, its config file, its completion, and the MCP bridge.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';
import { configPath, readConfig, storeCredential } from '../../clients/typescript/cli/config.ts';
import { bridge } from '../../clients/typescript/cli/mcp.ts';
import { run } from '../../clients/typescript/cli/run.ts';
import { refreshTokens, signIn } from '../../clients/typescript/cli/sign-in.ts';
import { printTable } from '../../clients/typescript/cli/table.ts';
import { ADMIN, appOfAll } from '../support/app.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { blocksOf } from '../support/docs-page.ts';
import { listenerOfAll } from '../support/listening.ts';
import { newKey } from '../support/money-on-stores.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { allow } from '../support/oauth-person.ts';
import { listen } from '../support/oauth-server.ts';

const app = await appOfAll({ nights: true, base: 'http://localhost:8787' });
const { base: url } = await listenerOfAll(app);
const folder = scratchOfAll();
const { key } = await newKey(app, 10);
const [first = '', second = ''] = app.records['tools']!.map(({ slug }) => slug);

/** A stream with the text that was written to it. */
function sink(members: object = {}) {
  let text = '';
  const stream = Object.assign(new PassThrough(), members);
  stream.on('data', (piece: Buffer) => (text += String(piece)));
  return Object.assign(stream, { text: () => text });
}

/** Runs a command as in a pipe, or as in a terminal. */
async function command(args: string[], { tty = false, env = {} }: { tty?: boolean; env?: NodeJS.ProcessEnv } = {}) {
  const stdout = sink({ isTTY: tty, columns: 100 });
  const stderr = sink({ isTTY: tty });
  const terminal = {
    env: { XDG_CONFIG_HOME: join(folder, 'none'), REGISTER_URL: url, REGISTER_KEY: key, NO_COLOR: '1', ...env },
    stdin: new PassThrough(),
    stdout,
    stderr,
  };
  const code = await run(args, terminal);
  await setImmediate();
  return { code, out: stdout.text(), err: stderr.text() };
}

const json = async (args: string[], options?: Parameters<typeof command>[1]) => {
  const { code, out, err } = await command(args, options);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Record<string, never>;
};

describe('commands', () => {
  test('print the answer of the service as JSON in a pipe', { timeout: 240_000 }, async () => {
    const calls: [string[], string][] = [
      [['datasets'], '/v1/datasets'],
      [
        ['search', 'tools', 'kind=drill', '--limit', '2', '--fields', 'maker'],
        '/v1/tools/entities?kind=drill&limit=2&fields=maker',
      ],
      [['get', 'tools', first], `/v1/tools/entities/${first}`],
      [['get', 'tools', first, second], `/v1/tools/entities/batch?ids=${first},${second}`],
      [['facts', 'tools', first, '--attribute', 'maker'], `/v1/tools/entities/${first}/facts?attribute=maker`],
      [['compare', 'tools', first, second], `/v1/tools/compare?ids=${first},${second}`],
      [['stats', 'tools', 'price.list', '--by', 'kind'], '/v1/tools/stats?attribute=price.list&group_by=kind'],
    ];
    for (const [args, path] of calls)
      expect(await json(args), args.join(' ')).toEqual((await app.json(path, { admin: true })).body);
    const counted = await json([
      'sql',
      'SELECT count(*) AS n FROM tools WHERE kind = $kind',
      '--parameter',
      'kind=drill',
    ]);
    expect(counted['row_count']).toBe(1);
    expect(await json(['export', 'tools', '--format', 'jsonl'], { env: { REGISTER_KEY: ADMIN } })).toMatchObject({
      format: 'jsonl',
    });
    expect(await json(['key', 'show'])).toHaveProperty('balance_eur');
    expect(await json(['key', 'topup', '5'])).toHaveProperty('checkout_url');
    expect((await command(['types', 'tools'])).out).toContain("declare module 'dataset-register-client'");
    expect((await command(['search', 'tools', '--format', 'csv', '--limit', '1'])).out).toMatch(/^id,/);
  });

  test('print tables in a terminal, with the citation and the cost next to them', async () => {
    const { code, out, err } = await command(
      ['search', 'tools', '--limit', '2', '--fields', 'maker', '--sort', 'name'],
      { tty: true },
    );
    expect(code).toBe(0);
    expect(out.split('\n')).toHaveLength(4);
    expect(out).toMatch(/^slug +maker/);
    expect(err).toMatch(/Source: .*\n.*--all.*\nCharged 0\.008 EUR, [\d.]+ EUR left\./);
    const record = await command(['get', 'tools', first], { tty: true });
    expect(record.out).toMatch(/^attribute +value .*source/);
    const compared = await command(['compare', 'tools', first, second], { tty: true });
    expect(compared.out.split('\n')[0]).toContain('attribute');
  });

  test('--all reads every page, a record a line in a pipe', async () => {
    const { out } = await command(['search', 'tools', '--all', '--limit', '5']);
    const slugs = out
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { slug: string }).slug);
    expect(new Set(slugs).size).toBe(app.records['tools']!.length);
  });

  test('--all reads every page in each format that pages make one text of, and says what is left out', async () => {
    const count = app.records['tools']!.length;
    // A page of a small size stands for one of a thousand.
    const rows = async (format: string, ...args: string[]) => {
      const { code, out, err } = await command(['search', 'tools', '--format', format, '--fields', 'maker', ...args]);
      expect(code).toBe(0);
      const lines = out.trimEnd().split(/\r?\n/);
      if (format === 'csv') expect(lines.filter((line) => line.startsWith('id,'))).toHaveLength(1);
      const parsed = format === 'geojson' ? (JSON.parse(out) as { features: object[] }).features : lines;
      return { rows: parsed.length - (format === 'csv' ? 1 : 0), err };
    };
    expect(count).toBeGreaterThan(20);
    for (const format of ['csv', 'ndjson']) {
      expect(await rows(format, '--all')).toEqual({ rows: count, err: '' });
      expect(await rows(format)).toEqual({ rows: 20, err: 'There are further records: --all, or --limit.\n' });
    }
    for (const format of ['md', 'arrow'])
      expect(await command(['search', 'tools', '--all', '--format', format])).toMatchObject({
        code: 2,
        err: expect.stringContaining('--all needs csv, ndjson, geojson'),
      });
  });

  test('pages of a format are one text, whatever their number', async () => {
    const page = (cursor: string | null) => ({ next_cursor: cursor, license: 'l' });
    const feature = (id: number) => ({ type: 'Feature', id: String(id), geometry: null, properties: {} });
    const pages: Record<string, string[]> = {
      csv: ['id,name\r\n1,"a\nb"\r\n', 'id,name\r\n2,b\r\n', 'id,name\r\n'],
      ndjson: ['{"id":1}\n', '{"id":2}\n', ''],
      geojson: ['2', '3', null].map((cursor, i) =>
        JSON.stringify({ type: 'FeatureCollection', ...page(cursor), features: i === 2 ? [] : [feature(i + 1)] }),
      ),
    };
    for (const [format, texts] of Object.entries(pages)) {
      let calls = 0;
      const server = createServer((_, response) => {
        calls += 1;
        const next = format !== 'geojson' && calls < 3 ? { 'X-Next-Cursor': String(calls) } : {};
        response.writeHead(200, next).end(texts[calls - 1]);
      }).listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      onTestFinished(() => void server.close());
      const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { code, out, err } = await command(['search', 'tools', '--all', '--format', format, '--url', at]);
      expect([code, err, calls]).toEqual([0, '', 3]);
      if (format === 'csv') expect(out).toBe('id,name\r\n1,"a\nb"\r\n2,b\r\n');
      else if (format === 'ndjson') expect(out).toBe('{"id":1}\n{"id":2}\n');
      else
        expect(JSON.parse(out)).toEqual({
          type: 'FeatureCollection',
          license: 'l',
          features: [feature(1), feature(2)],
        });
    }
  });

  test('a statement with more rows than an answer says so in every format', async () => {
    const { out, err } = await command(['sql', 'SELECT * FROM range(10001)', '--format', 'csv']);
    expect([out.trimEnd().split('\n').length, err]).toEqual([10_001, expect.stringContaining('the first 10000 rows')]);
    expect((await command(['sql', 'SELECT 1', '--format', 'ndjson'])).err).toBe('');
  });

  test('values that begin with - are ordinary', async () => {
    const sorted = await json(['search', 'tools', '--sort', '-mass', '--limit', '2', '--fields', 'mass']);
    const path = '/v1/tools/entities?sort=-mass&limit=2&fields=mass';
    expect(sorted).toEqual((await app.json(path, { admin: true })).body);
    const answer = async (...args: string[]) => (await json(['sql', ...args]))['rows'] as unknown;
    expect(await answer('SELECT $n::INT AS n', '--parameter', 'n=-5')).toEqual([[-5]]);
    expect(await answer('SELECT ?::INT AS n', '--parameter', '-5')).toEqual([[-5]]);
    expect(await answer('-- a comment\nSELECT 1 AS n')).toEqual([[1]]);
    const near = await command(['search', 'tools', '--near', '-33.9,151.2,10']);
    expect(near.err).not.toContain('ambiguous');
    expect(await command(['search', 'tools', '--sort', '--all'])).toMatchObject({
      code: 2,
      err: 'register: --sort needs a value\n',
    });
    expect(await command(['search', 'tools', '-limit'])).toMatchObject({
      code: 2,
      err: expect.stringContaining("'-l'"),
    });
    expect((await command(['search', 'tools', '--', '-limit'])).code).toBe(0);
  });

  test('--as-of selects a moment, and --max-price bounds a call', async () => {
    const [args, path] = [
      ['get', 'tools', first, '--as-of', '2026-11-20T00:00:00Z'],
      `/v1/tools/entities/${first}?as_of=2026-11-20T00:00:00Z`,
    ];
    expect(await json(args)).toEqual((await app.json(path, { admin: true })).body);
    expect(await command(['get', 'tools', first, '--max-price', '0.001'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('Raise --max-price.'),
    });
  });

  test('say what is wrong: 1 for the service, 2 for an argument', async () => {
    const anonymous = { env: { REGISTER_KEY: '' } };
    const failures: [string[], number, string, Parameters<typeof command>[1]?][] = [
      [['get', 'tools', 'nowhere'], 1, 'has no record "nowhere"'],
      [['get', 'tools', first], 1, 'register key create <email>', anonymous],
      [['get', 'tools'], 2, '<record> is missing'],
      [['get', 'tools', first, '--colour', 'red'], 2, "Unknown option '--colour'"],
      [['search', 'tools', '--limit', 'many'], 2, "--limit must be a number of at least 1 (got 'many')"],
      [['sreach'], 2, "unknown command 'sreach'"],
      [['datasets'], 2, 'add --url <address>', { env: { REGISTER_URL: undefined } }],
      [['datasets', '--url', 'ftp://h.example'], 2, 'must begin with http'],
      [['completion', 'cmd'], 2, 'bash, zsh, fish'],
    ];
    for (const [args, code, err, options] of failures)
      expect(await command(args, options), args.join(' ')).toMatchObject({ code, err: expect.stringContaining(err) });
  });

  test('have a help, and a completion that bash accepts', async () => {
    expect((await command(['--help'])).out).toContain('search');
    expect((await command(['search', '--help'])).out).toContain('--as-of');
    expect((await command(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    const script = (await command(['completion', 'bash'])).out;
    const words = (line: string) =>
      execFileSync(
        'bash',
        [
          '-c',
          `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _register; echo "\${COMPREPLY[@]}"`,
        ],
        { encoding: 'utf8' },
      ).trim();
    expect(words('register comp')).toBe('compare completion');
    expect(words('register facts --attr')).toBe('--attribute');
    expect((await command(['completion', 'zsh'])).out).toContain('bashcompinit');
    expect((await command(['completion', 'fish'])).out).toContain('complete -c register');
  });
});

describe('the config file', () => {
  const env = { XDG_CONFIG_HOME: join(folder, 'config'), REGISTER_KEY: undefined };
  const path = configPath(env);

  test('gets the key that was created, for its service alone, with mode 0600', async () => {
    const { code, out } = await command(['key', 'create', 'command@example.org'], { env });
    expect([code, out.includes('dsr_')]).toEqual([0, false]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await json(['key', 'show'], { env }))['email']).toBe('command@example.org');
    expect(Object.keys(readConfig(path).services!)).toEqual([url]);
    expect(await command(['key', 'create', 'other@example.org'], { env })).toMatchObject({
      code: 2,
      err: expect.stringContaining('--replace'),
    });
    const moved = await command(['key', 'show', '--url', url.replace('127.0.0.1', 'localhost')], { env });
    expect(moved.code).toBe(1);
  });

  test('is not read if others can read it, or if it is no JSON', async () => {
    const open = join(folder, 'open', 'dataset-register', 'config.json');
    storeCredential(open, url, { key: 'k' });
    execFileSync('chmod', ['644', open]);
    expect(await command(['datasets'], { env: { XDG_CONFIG_HOME: join(folder, 'open') } })).toMatchObject({
      code: 2,
      err: expect.stringContaining('chmod 600'),
    });
    writeFileSync(open, '[1]', { mode: 0o600 });
    execFileSync('chmod', ['600', open]);
    expect(await command(['datasets'], { env: { XDG_CONFIG_HOME: join(folder, 'open') } })).toMatchObject({
      code: 2,
      err: expect.stringContaining('must be a JSON object'),
    });
  });
});

test('a table fits the terminal, and no value reaches it as a command', () => {
  const table = printTable(
    [{ name: 'a\u001b[31mb\nc', place: { lat: 1, lng: 2 }, long: 'x'.repeat(200), none: null, n: 7 }],
    { columns: 60, bold: false },
  );
  expect(table).toMatch(/^name +place +long +n\n/);
  expect(table).toContain('a [31mb c');
  for (const line of table.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
  expect(printTable([{ 名: '東京' }, { 名: 'ab' }], { columns: 60, bold: false })).toBe('名\n東京\nab\n');
});

describe('register mcp', () => {
  const program = join(import.meta.dirname, '../../clients/typescript/cli/main.ts');

  test.each(['auto', 'legacy'] as const)('serves tools and resources to the SDK over stdio: %s', async (mode) => {
    const home = join(folder, `bridge-${mode}`);
    storeCredential(join(home, 'dataset-register', 'config.json'), url, { key });
    const client = new Client({ name: 'tests', version: '1.0.0' }, { versionNegotiation: { mode } });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', '--url', url],
      env: { ...CHILD_ENV, XDG_CONFIG_HOME: home } as Record<string, string>,
    });
    await client.connect(transport);
    onTestFinished(() => client.close());
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? '2026-07-28' : '2025-11-25');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('entity_get');
    const call = { name: 'entity_get', arguments: { dataset: 'tools', entity_id: first, format: 'json' } };
    const answer = (await client.callTool(call)) as { _meta: Record<string, unknown>; content: { text: string }[] };
    expect(answer._meta['charge_eur']).toBe(0.004);
    expect((await client.listResourceTemplates()).resourceTemplates.length).toBeGreaterThan(0);
    const { contents } = await client.readResource({ uri: `service://tools/entity/${first}` });
    expect((contents[0] as { text: string }).text).toContain('#');
    const failed = client.callTool({ name: 'no_such_tool', arguments: {} });
    await expect(failed).rejects.toThrow('Unknown tool');
  });

  /** The bridge in this process, in front of a server of the test. */
  async function stage(
    respond: Parameters<typeof createServer>[1],
    credentials = { current: async () => 'first', renew: async () => 'second' },
  ) {
    const server = createServer(respond!).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    onTestFinished(() => void server.closeAllConnections());
    onTestFinished(() => void server.close());
    const [input, output] = [new PassThrough(), sink()];
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const done = bridge({ endpoint, credentials, input, output });
    const lines = () =>
      output
        .text()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    return {
      input,
      lines,
      done,
      send: (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    };
  }

  const body = async (request: AsyncIterable<Buffer>) =>
    JSON.parse((await Array.fromAsync(request)).join('')) as { id: number; params?: Record<string, unknown> };

  test('forwards progress as it comes, cursors, and the credential after a 401', async () => {
    const seen: (string | undefined)[] = [];
    const { input, lines, done, send } = await stage(async (request, response) => {
      seen.push(request.headers.authorization);
      const { id, params } = await body(request);
      if (request.headers.authorization === 'Bearer first') return void response.writeHead(401).end('{}');
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(
        'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress",\ndata: "params":{"progressToken":"p","progress":1}}\n\n',
      );
      response.end(
        `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { nextCursor: `after ${params?.['cursor']}` } })}\n\n`,
      );
    });
    send({ id: 1, method: 'tools/list', params: { cursor: 'é' } });
    input.end();
    await done;
    await setImmediate();
    expect(lines()).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } },
      { jsonrpc: '2.0', id: 1, result: { nextCursor: 'after é' } },
    ]);
    expect(seen).toEqual(['Bearer first', 'Bearer second']);
  });

  test('a cancelled request ends at the service and is not answered', async () => {
    let [arrived, closed] = [() => {}, () => {}];
    const [running, ended] = [
      new Promise<void>((resolve) => (arrived = resolve)),
      new Promise<void>((resolve) => (closed = resolve)),
    ];
    const { input, lines, done, send } = await stage((request, response) => {
      response.on('close', closed);
      request.on('end', arrived).resume();
    });
    send({ id: 7, method: 'tools/call', params: { name: 'slow' } });
    await running;
    send({ method: 'notifications/cancelled', params: { requestId: 7 } });
    await ended;
    input.end();
    await done;
    await setImmediate();
    expect(lines()).toEqual([]);
  });

  test('errors are answers: of a line that is no JSON, of the service, and without a connection', async () => {
    const { input, lines, done, send } = await stage((_request, response) =>
      response
        .writeHead(403)
        .end('{"error":"plan_required","message":"Not in your plan.","alternative_action":"Use another."}'),
    );
    input.write('{\n\n');
    send({ id: 'a', method: 'tools/call', params: {} });
    input.end();
    await done;
    await setImmediate();
    expect(lines()).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error: the line is not JSON' } },
      { jsonrpc: '2.0', id: 'a', error: { code: -32_000, message: '403 Not in your plan. Use another.' } },
    ]);
    const [alone, output] = [new PassThrough(), sink()];
    const absent = bridge({
      endpoint: 'http://127.0.0.1:9/mcp',
      credentials: { current: async () => undefined, renew: async () => undefined },
      input: alone,
      output,
    });
    alone.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    await absent;
    await setImmediate();
    expect(output.text()).toContain('no connection to http://127.0.0.1:9/mcp');
  });

  test('every message gets an answer or an error, in front of the service and of none', async () => {
    const messages: [string, number | null, unknown?][] = [
      ['{', null, -32_700],
      ['\u0000\ufffd', null, -32_700],
      ['5', null, -32_600],
      ['null', null, -32_600],
      ['"text"', null, -32_600],
      ['[]', null, -32_600],
      ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', null, -32_600],
      ['{"jsonrpc":"2.0","id":2}', 2, -32_600],
      ['{"jsonrpc":"2.0","id":3,"method":7}', 3, -32_600],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', null, -32_600],
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}', null, -32_600],
      ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null, -32_600],
      ['{"jsonrpc":"2.0","id":10,"method":"nothing/such"}', 10],
      ['{"jsonrpc":"2.0","id":11,"method":"tools/call","params":[]}', 11],
      ['{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"é\\u0000","arguments":5}}', 12],
      ['{"jsonrpc":"1.0","id":13,"method":"ping"}', 13],
      [`{"jsonrpc":"2.0","id":14,"method":"ping","params":{"x":"${'x'.repeat(5_000_000)}"}}`, 14],
      [
        '{"jsonrpc":"2.0","id":15,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"é\\n"}}}',
        15,
      ],
    ];
    for (const endpoint of [`${url}/mcp`, 'http://127.0.0.1:9/mcp']) {
      const credentials = { current: async () => key, renew: async () => undefined };
      for (const [line, id, code] of messages) {
        const [input, output] = [new PassThrough(), sink()];
        const done = bridge({ endpoint, credentials, input, output });
        input.end(`${line}\n`);
        await done;
        await setImmediate();
        const answers = output.text().trimEnd().split('\n');
        expect(answers, line.slice(0, 90)).toHaveLength(1);
        const answer = JSON.parse(answers[0]!) as { id: unknown; error?: { code: number }; result?: unknown };
        expect([answer.id, answer.error !== undefined || answer.result !== undefined], line.slice(0, 90)).toEqual([
          id,
          true,
        ]);
        if (code !== undefined) expect(answer.error?.code).toBe(code);
      }
    }
  });

  test('a stream that ends without the answer is an error', async () => {
    const { input, lines, done, send } = await stage((_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('data: {"jsonrpc":"2.0","method":"n"}\n\n'),
    );
    send({ id: 4, method: 'tools/call' });
    input.end();
    await done;
    await setImmediate();
    expect(lines().at(-1)).toMatchObject({ id: 4, error: { message: expect.stringContaining('without an answer') } });
  });

  test('signs in through the browser, and refreshes its token', async () => {
    const { base, app: service, close } = await listen({});
    onTestFinished(close);
    const person = await newKey(service);
    const notes: string[] = [];
    const open = async (address: string) => {
      const redirect = await allow(base, address, person.key);
      expect((await fetch(redirect.href.replace(/state=[^&]+/, 'state=other'))).status).toBe(404);
      expect(await (await fetch(redirect)).text()).toContain('You are signed in.');
    };
    const tokens = await signIn(base, { open, note: (text) => notes.push(text) });
    expect(notes[0]).toContain('/oauth/authorize?');
    const renewed = await refreshTokens(tokens);
    expect(renewed.access_token).not.toBe(tokens.access_token);
    expect(renewed.expires_at).toBeGreaterThan(Date.now());
    const answer = await fetch(`${base}/v1/keys/me`, { headers: { Authorization: `Bearer ${renewed.access_token}` } });
    expect(await answer.json()).toMatchObject({ id: person.id });
  });
});

test('the shell blocks of docs/clients.md install the clients and run', { timeout: 240_000 }, async () => {
  const home = join(folder, 'home');
  mkdirSync(join(home, 'my-project'), { recursive: true });
  writeFileSync(join(home, 'my-project/package.json'), '{}');
  const env = {
    ...CHILD_ENV,
    ...{ HOME: home, XDG_CONFIG_HOME: join(home, '.config'), npm_config_offline: 'true', npm_config_audit: 'false' },
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
  };
  const root = join(import.meta.dirname, '../..');
  const shell = (script: string, cwd: string) => promisify(execFile)('bash', ['-ec', script], { cwd, env });
  const blocks = blocksOf('docs/clients.md').filter(({ language }) => language === 'sh' || language === 'console');
  expect(blocks.map(({ language }) => language)).toEqual(['sh', 'console']);
  await shell(blocks[0]!.text, root);
  // The datasets of the tests in place of those of the guide.
  const names = [
    ...[
      ['http://localhost:8787', url],
      ['airports', 'tools'],
      ['zurich', 'ltd'],
      ['min_elevation=4000', 'min_mass=0'],
    ],
    ...[
      ['elevation', 'mass'],
      ['country=CH', 'kind=drill'],
      ['country', 'kind'],
      ['lszh', first],
      ['lsgg', second],
    ],
    ['2026-01-31', '2026-11-20'],
  ] as const;
  const commands = blocks[1]!.text.trim().split('\n');
  for (const command of commands) {
    expect(command).toMatch(/^\$ npx register /);
    const script = names.reduce((text, [shown, tested]) => text.replaceAll(shown!, tested!), command.slice(2));
    const { stdout, stderr } = await shell(script, join(home, 'my-project'));
    if (!script.includes('>')) expect(stdout, script).toMatch(/^\{/);
    expect(stderr, script).not.toContain('register:');
  }
  expect(readFileSync(join(home, 'my-project/swiss.csv'), 'utf8')).toMatch(/^id,/);
});

test('server.json describes the bridge for registries of MCP servers', () => {
  const root = join(import.meta.dirname, '../../clients/typescript');
  expect(existsSync(join(root, 'server.json'))).toBe(true);
  const server = JSON.parse(readFileSync(join(root, 'server.json'), 'utf8')) as {
    version: string;
    packages: { identifier: string; version: string }[];
  };
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { name: string; version: string };
  expect([server.version, server.packages[0]?.identifier, server.packages[0]?.version]).toEqual([
    manifest.version,
    manifest.name,
    manifest.version,
  ]);
});
