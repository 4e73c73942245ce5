// Every parameter of contract section 9 in every channel, document, engine and store: a row of the table of questions
// for each, before and after an owner's edit and an opt-out.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedParameters, isTool } from '../../../api/contract/operation.ts';
import { callPrice, isCharged } from '../../../api/contract/pricing.ts';
import { addressOf } from '../../support/agent-questions.ts';
import { appOfAll, type TestApp } from '../../support/app.ts';
import { overA2a, overMcp, overRest, type RequestHeaders } from '../../support/call-channels.ts';
import { type Listener, startListener } from '../../support/listening.ts';
import { connectMcp, type McpClient } from '../../support/mcp-clients.ts';
import { balance, describeApps, newKey } from '../../support/money-on-stores.ts';
import { editAsOwner, optOutRecord } from '../../support/overlay-world.ts';
import { QUESTIONS, type QuestionRow } from '../../support/question-table.ts';
import { ROLES } from '../../support/x402-stage.ts';

// A 402 names the terms without a call of the facilitator or the chain.
const UNREACHABLE = 'http://127.0.0.1:9';
const x402 = {
  ...{ pay_to: ROLES.merchant.address, tokens: ['usdc' as const] },
  ...{ facilitator_url: UNREACHABLE, rpc_url: UNREACHABLE },
};

// DuckDB alone, on SQLite: what everything else is compared with.
const plainReference = { nights: true, index: false };
const reference = { published: await appOfAll(plainReference), edited: await appOfAll(plainReference) };

await applyEdits(reference.edited);

const rows = QUESTIONS.map((row) => [row.name, row] as const);
const tools = rows.filter(([, { operation }]) => isTool(operation));

const withMarkdown = (address: string) => {
  const [path, query] = address.split('?');
  return path!.endsWith('.md') ? address : `${path}.md${query === undefined ? '' : `?${query}`}`;
};

/** An answer without the secrets of a process: cursors and tags. */
const steady = (text: string) => text.replaceAll(/"next_cursor":"[^"]+"/g, '"next_cursor":"<cursor>"');

async function applyEdits(app: TestApp): Promise<void> {
  const editing = { store: app.state, refresh: () => app.register.refresh(), current: app.register.current };
  const recordOf = (slug: string) => app.records['tools']!.find((record) => record.slug === slug)!;
  const { id } = recordOf('nordwerk-fs-210');
  await editAsOwner(editing, 'tools', id, { materials: ['titanium'], runtime: 45 }, '2026-11-20T11:00:00Z');
  await optOutRecord(editing, 'tools', recordOf('nordwerk-fs-330'), '2026-11-20T11:30:00Z');
}

describeApps('questions', { nights: true, x402 }, (stage) => {
  let http: Listener;
  let client: McpClient;
  let rest: RequestHeaders;
  let agent: RequestHeaders;
  beforeAll(async () => {
    http = await startListener(stage.app);
    [{ headers: rest }, { headers: agent }] = [await newKey(stage.app, 100), await newKey(stage.app, 100)];
    client = await connectMcp('2025-11-25', `${http.base}/mcp?max_tokens=200000`, agent);
  });
  afterAll(async () => {
    await client.close();
    await http.stop();
    expect([stage.app.faults, stage.app.lent()]).toEqual([[], 0]);
  });

  /** Status, text and charge of the service behind its listener. */
  async function fetched(address: string, init: RequestInit = {}) {
    const response = await fetch(http.base + address, { ...init, headers: { ...rest, ...init.headers } });
    const { status, headers } = response;
    return { status, headers, text: await response.text(), charge: headers.get('x-charge-eur') };
  }

  /** The price in EUR, or null for a free call. */
  function priceOf({ operation, given }: QuestionRow): number | null {
    const release = stage.app.register.current('tools')!;
    const { dataset: _, ...values } = given;
    const raw = Object.fromEntries(
      [...new URL(addressOf({ operation, given, about: '' }), 'http://x').searchParams].concat(
        Object.entries(values).flatMap(([name, value]) =>
          name === 'entity_id' ? [[name, String(value)]] : [],
        ) as never,
      ),
    );
    const ctx = { release, now: new Date('2026-11-20T12:00:00Z'), format: 'json' } as never;
    if (operation.charge.price === undefined) return null;
    const point = { id: 'r-0', lat: 0, lng: 0 };
    const input = operation.parse(raw, { ...(ctx as object), point } as never);
    if (!isCharged(operation, input, ctx)) return null;
    return callPrice(operation, release.pack, input).micros / 1e6;
  }

  const sameEverywhere = (expectedApp: TestApp) => {
    it.each(rows)('REST and Markdown: %s', async (_, row) => {
      const address = addressOf(row);
      const answer = await fetched(address);
      expect([answer.status, answer.text]).toEqual([200, answer.text]);
      // Spellings come from the index: without one a suggestion only leaves out words.
      const isSpelled = row.about === 'suggestion';
      const expected = await expectedApp.ask(address, { admin: true });
      if (isSpelled) expect(JSON.parse(answer.text)).toMatchObject({ items: [], suggestion: { q: 'folding saw' } });
      else expect(steady(answer.text)).toBe(steady(await expected.text()));
      const markdown = await fetched(withMarkdown(address));
      expect([markdown.status, markdown.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
      expect(markdown.charge).toBe(answer.charge);
      const other = await expectedApp.ask(withMarkdown(address), { admin: true });
      if (!isSpelled)
        expect(markdown.text.replaceAll(/cursor=\S+/g, '')).toBe((await other.text()).replaceAll(/cursor=\S+/g, ''));
    });

    it.each(tools)('MCP and A2A: %s', async (_, row) => {
      const expected = await overRest(stage.app, row, rest);
      expect(await overMcp(row, client)).toEqual(expected);
      expect(await overA2a(stage.app, row, agent)).toEqual(expected);
    });
  };

  describe('as the nights publish them', () => {
    sameEverywhere(reference.published);

    it.each(rows.filter(([, { plain }]) => plain !== null))('changes the answer: %s', async (_, row) => {
      const { text } = await fetched(addressOf(row));
      const plain = await fetched(addressOf({ ...row, given: row.plain! }));
      expect(plain.status).toBe(200);
      expect(text).not.toBe(plain.text);
    });

    it.each(rows)('the terms, HEAD and repeated calls: %s', async (_, row) => {
      const { app } = stage;
      const address = addressOf(row);
      const price = priceOf(row);
      const anonymous = await app.ask(`${address.replace(/^\/v1\/tools\/entities\?/, '/v1/tools/paid/entities?')}`);
      if (price === null) expect(anonymous.status).toBe(200);
      else {
        const body = (await anonymous.json()) as Record<string, unknown>;
        expect([anonymous.status, body['price_eur']]).toEqual([402, price]);
        const [terms] = body['accepts'] as { amount: string }[];
        expect(Number(terms!.amount)).toBe(Math.ceil(Number((price * 1.1e6).toFixed(3))));
      }
      const { headers } = await newKey(app, 1);
      const head = await fetched(address, { method: 'HEAD', headers });
      expect([head.status, head.text, head.charge]).toEqual([200, '', null]);
      expect(await balance(app, headers)).toBe(1.5);

      const repeated = { ...headers, 'Idempotency-Key': 'a-question-0123456789' };
      const [first, again] = [
        await fetched(address, { headers: repeated }),
        await fetched(address, { headers: repeated }),
      ];
      expect(first.charge).toBe(price === null ? null : String(price));
      expect(again.text).toBe(first.text);
      if (price !== null) expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(await balance(app, headers)).toBeCloseTo(1.5 - (price ?? 0), 6);

      const tag = first.headers.get('etag');
      expect(head.headers.get('etag')).toBe(tag);
      if (row.operation.rest.validators || price === null) expect(tag).toBeTruthy();
      if (tag !== null) {
        const unchanged = await fetched(address, { headers: { 'If-None-Match': tag } });
        expect([unchanged.status, unchanged.text, unchanged.charge]).toEqual([304, '', null]);
      }
    });

    it('is in OpenAPI, in general and for the dataset, in tools, guides and llms.txt', async () => {
      const { body } = await stage.app.json('/openapi.json');
      type Parameter = { name?: string; $ref?: string };
      const { paths, components } = body as {
        paths: Record<string, Record<string, { parameters?: Parameter[] }>>;
        components: { parameters: Record<string, Parameter> };
      };
      const listed = await client.tools();
      const guide = await (await stage.app.ask('/v1/tools/llms.txt')).text();
      const register = await (await stage.app.ask('/llms.txt')).text();
      const search = listed.find(({ name }) => name === 'entity_search')?.inputSchema.properties ?? {};
      const missing: string[] = [];
      for (const { operation, given, name } of QUESTIONS) {
        const { rest: route } = operation;
        const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
        for (const parameter of Object.keys(given).filter((each) => each !== 'dataset' && each !== 'query')) {
          for (const template of [path, path.replace('{ds}', 'tools')]) {
            const parameters = paths[template]![route.method.toLowerCase()]!.parameters ?? [];
            const names = parameters.map(
              (each) => (each.$ref ? components.parameters[each.$ref.split('/').at(-1)!]! : each).name,
            );
            if (!names.includes(parameter)) missing.push(`openapi ${template} ${parameter}`);
          }
          // Other tools take the conditions of entity_search in `filters`; the tool search has words alone.
          const tool = listed.find((candidate) => candidate.name === operation.name);
          const own = tool?.inputSchema.properties ?? {};
          const offered = 'filters' in own ? { ...search, ...own } : own;
          if (tool && operation.name !== 'search' && !(parameter in offered))
            missing.push(`tool ${operation.name} ${parameter}`);
          expect(acceptedParameters(operation).names.concat('entity_id'), name).toContain(parameter);
        }
      }
      const inGuide = ['filter', 'as_of', 'group_by', 'group_limit', 'match', 'near', 'order', 'having_min_count'];
      for (const parameter of [...inGuide, 'buckets', 'direction', 'from', 'to'])
        if (!guide.includes(`${parameter}=`)) missing.push(`guide ${parameter}`);
      for (const path of ['/v1/search', '/v1/fetch']) if (!register.includes(path)) missing.push(`llms.txt ${path}`);
      expect(missing).toEqual([]);
    });
  });

  describe('after an owner’s edit and an opt-out', () => {
    beforeAll(() => applyEdits(stage.app));

    sameEverywhere(reference.edited);

    it.each(rows)('has the edit, and nothing of the removed record: %s', async (_, row) => {
      const { text } = await fetched(addressOf(row));
      expect(text).not.toMatch(/Folding saw 330|nordwerk-fs-330/);
    });
  });
});
