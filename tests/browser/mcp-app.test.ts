// The view of MCP Apps in Chromium: a host page has it in a sandboxed frame, and the host is the AppBridge of
// @modelcontextprotocol/ext-apps.
/// <reference lib="dom" />
import { RESOURCE_MIME_TYPE } from '@modelcontextprotocol/ext-apps';
import { AppBridge } from '@modelcontextprotocol/ext-apps/app-bridge';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN, testApp } from '../support/app.ts';
import { NONE, openBrowser, openPage } from '../support/browser.ts';
import { connectMcp, type McpClient } from '../support/mcp-clients.ts';
import { served } from '../support/served.ts';

type Transport = Parameters<AppBridge['connect']>[0];

const browser = await openBrowser();
const server = await served((base) => testApp({ base }));
let client: McpClient;
let html: string;
beforeAll(async () => {
  client = await connectMcp('2026-07-28', `${server.base}/mcp`, { Authorization: `Bearer ${ADMIN}` });
  const tools = (await client.tools()).filter(({ _meta }) => _meta?.['ui'] !== undefined);
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['entity_get', 'entity_compare', 'tools_get']));
  const { resourceUri } = tools[0]!._meta!['ui'] as { resourceUri: string };
  const [view] = await client.read(resourceUri);
  expect(view?.mimeType).toBe(RESOURCE_MIME_TYPE);
  html = view!.text;
});
afterAll(async () => {
  await client.close();
  await browser?.close();
  await server.close();
});

/** A host page with the view in a frame; messages pass to and from the bridge. */
async function openHost(): Promise<{ page: Page; bridge: AppBridge; links: string[]; complaints: string[] }> {
  const { page, complaints } = await openPage(browser!);
  const transport: Transport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => {
      await page.evaluate((data) => document.querySelector('iframe')!.contentWindow!.postMessage(data, '*'), message);
    },
  };
  await page.exposeFunction('toBridge', (message: never) => transport.onmessage?.(message));
  await page.setContent('<iframe sandbox="allow-scripts" title="view" width="600" height="500"></iframe>');
  const links: string[] = [];
  const hostContext = { theme: 'dark' as const, styles: { variables: { '--color-text-primary': 'rgb(1, 2, 3)' } } };
  const bridge = new AppBridge(null, { name: 'host', version: '1.0.0' }, { openLinks: {} }, {
    hostContext,
  } as ConstructorParameters<typeof AppBridge>[3]);
  bridge.onopenlink = async ({ url }) => {
    links.push(url);
    return {};
  };
  const initialized = new Promise<void>((resolve) => {
    bridge.oninitialized = () => resolve();
  });
  await bridge.connect(transport);
  await page.evaluate((text) => {
    const frame = document.querySelector('iframe')!;
    const { toBridge } = globalThis as unknown as { toBridge(message: unknown): void };
    addEventListener('message', ({ source, data }) => {
      if (source === frame.contentWindow) toBridge(data);
    });
    frame.srcdoc = text;
  }, html);
  await initialized;
  return { page, bridge, links, complaints };
}

test('shows a record with sources, and a comparison, in the theme of the host', async (context) => {
  if (browser === null) return context.skip(NONE);
  const { page, bridge, links, complaints } = await openHost();
  const frame = page.frameLocator('iframe');
  const [first, second] = server.app.records['tools']!;
  const call = async (name: string, args: Record<string, unknown>) => {
    await bridge.sendToolInput({ arguments: args });
    await bridge.sendToolResult((await client.call(name, args)) as never);
  };

  await call('entity_get', { dataset: 'tools', entity_id: first!.slug });
  await frame.getByRole('heading', { name: first!.name }).waitFor();
  expect(await frame.getByRole('columnheader').allTextContents()).toContain('source');
  expect(await frame.locator('body').evaluate((body) => getComputedStyle(body).color)).toBe('rgb(1, 2, 3)');
  expect(await frame.locator('html').evaluate((root) => root.style.colorScheme)).toBe('dark');
  await frame.getByRole('link', { name: 'source', exact: true }).first().click();
  await expect.poll(() => links[0]).toMatch(/^https?:\/\//);

  await call('entity_get', { dataset: 'tools', entity_id: first!.slug, format: 'json' });
  await frame
    .getByText(/confidence 0\.\d/)
    .first()
    .waitFor();

  for (const format of ['markdown', 'json']) {
    await call('entity_compare', { dataset: 'tools', ids: [first!.slug, second!.slug], format });
    await frame.getByRole('columnheader', { name: second!.name }).waitFor();
    expect(await frame.getByRole('columnheader', { name: first!.name }).count()).toBe(1);
    await bridge.sendToolResult({ content: [{ type: 'text', text: 'between' }] });
    await frame.getByText('between').waitFor();
  }
  expect(complaints).toEqual([]);
  await page.context().close();
}, 60_000);

test('takes texts of records as texts, and opens no other addresses than those of the web', async (context) => {
  if (browser === null) return context.skip(NONE);
  const { page, bridge, complaints } = await openHost();
  const frame = page.frameLocator('iframe');
  const markup = '<img src=x onerror="document.title=1"><b>x</b>';
  await bridge.sendToolInput({ arguments: {} });
  await bridge.sendToolResult({
    content: [{ type: 'text', text: `# ${markup}\n\n[run](javascript:alert(1)) ${markup}` }],
  });
  await frame.getByRole('heading', { name: markup }).waitFor();
  const attributes = { [markup]: markup };
  const provenance = { [markup]: { source_url: 'javascript:alert(1)', observed_at: markup, confidence: 1 } };
  await bridge.sendToolResult({ content: [], structuredContent: { name: markup, attributes, provenance } });
  await frame.getByRole('cell', { name: markup }).first().waitFor();
  expect(await frame.locator('img, b, a').count()).toBe(0);
  expect(complaints).toEqual([]);
  await page.context().close();
}, 60_000);
