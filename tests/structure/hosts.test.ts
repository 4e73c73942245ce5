// Only BASE_URL knows where the service stands: no other host name is written in the product.
import { expect, test } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { isTest, MODULES, read } from './tree.ts';

/** Names of vocabularies, formats and licences, which happen to be addresses; nothing is fetched from them. */
const NAMES = [
  'creativecommons.org',
  'json-schema.org',
  'mlcommons.org',
  'purl.org',
  'schema.org',
  'schemas.agentskills.io',
  'static.modelcontextprotocol.io',
  'www.rfc-editor.org',
  'www.sitemaps.org',
  'www.w3.org',
];

/** The guides are written for the address of a first start; the page of a guide puts BASE_URL in its place. */
const WRITTEN = new Set(['site/guides.ts: localhost']);

/** Made for documents (RFC 2606). */
const isExample = (host: string) => /(^|\.)example(\.(com|net|org))?$/.test(host);

test('no module knows a host name', () => {
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
