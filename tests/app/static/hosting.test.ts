// Headers of static files: one table, for our own server and for three kinds of hosts.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_PATHS, hostingRules } from '../../../api/discovery/hosting.ts';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { THEME_SOURCE } from '../../../api/pages/frame.ts';
import { caddyConfig, headersFile, nginxConfig, redirectsFile } from '../../../build/static/host-configs.ts';
import { BASE, type TestApp, testApp } from '../../support/app.ts';

const rules = hostingRules({ base_url: BASE, operations: OPERATIONS });

describe('the register’s server', () => {
  let app: TestApp;
  let dist: string;
  beforeAll(async () => {
    dist = mkdtempSync(join(tmpdir(), 'hosting-'));
    mkdirSync(join(dist, 'assets'));
    writeFileSync(join(dist, 'index.html'), '<h1>Home</h1>');
    writeFileSync(join(dist, 'assets/a.01234567.js'), '');
    app = await testApp({ dist });
  });
  afterAll(async () => {
    await app.close();
    rmSync(dist, { recursive: true, force: true });
  });

  test.each([
    ['/', ['/*', '/']],
    ['/assets/a.01234567.js', ['/*', '/assets/*']],
  ])('%s goes out with what the table says', async (path, matching) => {
    const { headers } = await app.ask(path, { headers: { Accept: 'text/html' } });
    for (const { header, value } of rules.filter(
      (rule) => matching.includes(rule.path) && rule.header !== 'Content-Signal',
    ))
      expect(headers.get(header), header).toBe(value);
  });

  test('answers without an extension have the type that the table gives their files', async () => {
    // Types with several extensions.
    const typed = rules.filter(({ header, path }) => header === 'Content-Type' && !/:(?!ds)/.test(path));
    expect(typed.length).toBeGreaterThan(5);
    for (const { path, value } of typed) {
      const { status, headers } = await app.ask(path.replace(':ds', 'tools'));
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, value]);
    }
  });
});

describe('the policy of pages', () => {
  const policy = rules.find(({ header }) => header === 'Content-Security-Policy')?.value ?? '';

  test('allows only this host and the API, and no inline script but the colour scheme', () => {
    expect(policy).toContain("default-src 'none'");
    expect(/script-src ([^;]*)/.exec(policy)?.[1]).toBe(`'self' ${THEME_SOURCE}`);
    expect(/connect-src ([^;]*)/.exec(policy)?.[1]).toBe(`'self' ${new URL(BASE).origin}`);
  });
});

describe('configurations', () => {
  test('_headers gives no path the same header twice, and Croissant its type', () => {
    expect(headersFile(rules)).toContain('/*.jsonld\n  Content-Type: application/ld+json\n');
    const blocks = headersFile(rules).trim().split('\n\n');
    expect(new Set(blocks.map((block) => block.split('\n')[0])).size).toBe(blocks.length);
    const everywhere = new Set(rules.filter(({ path }) => path === '/*').map(({ header }) => header));
    expect(rules.filter(({ path, header }) => path !== '/*' && everywhere.has(header))).toEqual([]);
  });

  test.each([
    ['nginx', nginxConfig(rules, { root: '/srv/dist' })],
    ['Caddy', caddyConfig(rules, { root: '/srv/dist' })],
  ])('%s is told every header of the table, and hides the notes of the build', (_host, text) => {
    for (const { header, value } of rules) {
      expect(text.replaceAll('\\"', '"'), header).toContain(value);
      if (header !== 'Content-Type') expect(text).toContain(header);
    }
    expect(text).toContain('build');
    expect(text).toContain('/srv/dist');
  });

  test('every path of the API is in the rules, the guide, and the routes of Kubernetes', () => {
    const ingress = readFileSync('deploy/kubernetes/ingress.yaml', 'utf8');
    const guide = readFileSync('docs/static-hosting.md', 'utf8');
    const redirects = redirectsFile(rules, { root: '/srv/dist', api: 'https://api.example' });
    expect(redirects).toContain('/files/:dataset/edits.json  https://api.example/files/:dataset/edits.json  200\n');
    for (const path of API_PATHS) {
      expect(guide, path).toContain(`\`${path.replace(':dataset', '{ds}')}\``);
      expect(redirects, path).toContain(`${path}  https://api.example`);
      // There, the files and pages of datasets are served by an API process, which answers these too.
      if (path.includes('/:dataset/')) continue;
      expect(ingress, path).toContain(`path: ${path.replace(/\/\*$/, '')}, `);
    }
    expect(redirectsFile(rules, { root: '/srv/dist' })).not.toContain('/mcp');
  });
});
