// Only BASE_URL contains the address of the service: the product contains no other host name.
import { expect, test } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { isTest, MODULES, read } from './tree.ts';

/** Names of vocabularies, formats and licences, which are URLs; nothing is fetched from them. */
const NAMES = [
  'creativecommons.org',
  'json-schema.org',
  'mlcommons.org',
  'purl.org',
  'schema.org',
  'schemas.agentskills.io',
  'spdx.org',
  'static.modelcontextprotocol.io',
  'w3id.org',
  'www.opengis.net',
  'www.iana.org',
  'www.rfc-editor.org',
  'www.sitemaps.org',
  'www.w3.org',
  'xmlns.com',
];

/**
 * The guides use the address of a first start; the page of a guide replaces it with BASE_URL. Rules for nginx and
 * Caddy send API paths to the first start's port unless `--api` names another origin.
 */
const WRITTEN = new Set([
  'site/guides.ts: localhost',
  'build/cli/upload.ts: 127.0.0.1',
  'build/static/host-configs.ts: 127.0.0.1',
]);

/** Reserved for documents (RFC 2606). */
const isExample = (host: string) => /(^|\.)example(\.(com|net|org))?$/.test(host);

test('no module contains a host name', () => {
  verifies('setting.no-other-host');
  const product = MODULES.filter((path) => /^(api|data|build|site)\//.test(path) && !isTest(path));
  const found = product.flatMap((path) =>
    [...read(path).matchAll(/https?:\/\/([\w-]+(?:\.[\w-]+)*)/g)]
      .map(([, host = '']) => host)
      .filter((host) => !NAMES.includes(host) && !isExample(host))
      .map((host) => `${path}: ${host}`)
      .filter((line) => !WRITTEN.has(line)),
  );
  expect(found).toEqual([]);
});
