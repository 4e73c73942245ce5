// The same statement in every channel, document, engine and store, before and after an owner's edit and an opt-out.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { overA2a, overMcp, overRest } from '../../support/call-channels.ts';
import { type Listener, startListener } from '../../support/listening.ts';
import { connectMcp, type McpClient } from '../../support/mcp-clients.ts';
import { describeApps, newKey } from '../../support/money-on-stores.ts';
import { editAsOwner, optOutRecord } from '../../support/overlay-world.ts';

const operation = OPERATIONS.find(({ name }) => name === 'sql_query')!;
const given = { sql: "SELECT name, materials FROM tools WHERE slug LIKE 'nordwerk-fs%' ORDER BY name" };
const PATHS = ['/v1/sql', '/v1/{ds}/sql', '/v1/tools/sql'];

describeApps('SQL', { nights: true, index: false }, (stage) => {
  let http: Listener;
  let client: McpClient;
  let headers: Record<string, string>;
  beforeAll(async () => {
    http = await startListener(stage.app);
    ({ headers } = await newKey(stage.app, 1));
    client = await connectMcp('2025-11-25', `${http.base}/mcp`, headers);
    // The tables are made at the first statement.
    await vi.waitFor(async () => expect((await post()).status).toBe(200), { timeout: 60_000, interval: 500 });
  }, 90_000);
  afterAll(async () => {
    await client.close();
    await http.stop();
  });

  const post = (more: Record<string, string> = {}, format = 'json') =>
    fetch(`${http.base}/v1/sql?format=${format}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', ...more },
      body: JSON.stringify(given),
    });

  async function sameRows(rows: unknown[][]): Promise<void> {
    const question = { operation, given, about: '' };
    const answer = await overRest(stage.app, question, headers);
    expect(answer).toMatchObject({ charge: undefined, body: { rows } });
    expect(await overMcp(question, client)).toEqual(answer);
    expect(await overA2a(stage.app, question, headers)).toEqual(answer);
    expect(await (await post()).json()).toMatchObject({ rows });
    const markdown = await (await post({}, 'md')).text();
    for (const [name] of rows) expect(markdown).toContain(`|${name}|`);
  }

  it('answers the same rows over REST, MCP, A2A and as Markdown, free', () =>
    sameRows([
      ['Folding saw 210', ['steel', 'beech']],
      ['Folding saw 330', ['steel', 'ash']],
    ]));

  it('answers a repeated call with the same Idempotency-Key, and 405 to GET and HEAD', async () => {
    const repeated = { 'idempotency-key': 'a-statement-0123456789' };
    const [first, second] = [await post(repeated), await post(repeated)];
    expect([first.status, second.status, await second.text()]).toEqual([200, 200, await first.text()]);
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await fetch(`${http.base}/v1/sql`, { method });
      expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    }
  });

  it('is in OpenAPI, in tools, in skills, in the guide of a dataset and in llms.txt', async () => {
    const { body } = await stage.app.json('/openapi.json');
    expect(Object.keys(body['paths'] as object)).toEqual(expect.arrayContaining(PATHS));
    expect((await client.tools()).map(({ name }) => name)).toContain('sql_query');
    const card = await stage.app.json('/.well-known/agent-card.json');
    expect(JSON.stringify(card.body['skills'])).toContain('"id":"sql_query"');
    for (const path of ['/llms.txt', '/v1/tools/llms.txt'])
      expect(await (await stage.app.ask(path)).text(), path).toContain('/v1/sql');
  });

  it('takes parameters above 2^53 over MCP and A2A without rounding', async () => {
    const number = '9007199254740993';
    const members = `{"sql": "SELECT ${number} = ?, ${number} + 1 = ?", "parameters": [${number}, ${number}]}`;
    const sent = { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const ask = async (path: string, body: string, more: Record<string, string>) =>
      (await fetch(http.base + path, { method: 'POST', headers: { ...sent, ...more }, body })).text();
    const tool = `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sql_query", "arguments": ${members}}}`;
    expect(await ask('/mcp', tool, { 'mcp-protocol-version': '2025-11-25' })).toContain('|true|false|');
    const part = `{"data": {"skill": "sql_query", ${members.slice(1)}}`;
    const message = `{"message": {"messageId": "1", "role": "ROLE_USER", "parts": [${part}]}}`;
    expect(await ask('/a2a/v1/message:send', message, { 'a2a-version': '1.0' })).toMatch(
      /"rows":\[\[true,false\]\]|\|true\|false\|/,
    );
  });

  it('has an edit of an owner, and nothing of a removed record', async () => {
    const editing = {
      store: stage.app.state,
      refresh: () => stage.app.register.refresh(),
      current: stage.app.register.current,
    };
    const recordOf = (slug: string) => stage.app.records['tools']!.find((record) => record.slug === slug)!;
    const { id } = recordOf('nordwerk-fs-210');
    await editAsOwner(editing, 'tools', id, { materials: ['titanium'] }, '2026-11-20T11:00:00Z');
    await optOutRecord(editing, 'tools', recordOf('nordwerk-fs-330'), '2026-11-20T11:30:00Z');
    // Its tables are written anew; until then a statement is 503.
    await expect.poll(async () => (await post()).status, { timeout: 60_000, interval: 500 }).toBe(200);
    await sameRows([['Folding saw 210', ['titanium']]]);
  });
});
