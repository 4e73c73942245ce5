// Forbidden content of files: paths of one machine, registries of one network, people's addresses.
import { expect, test } from 'vitest';
import { FILES, read } from './tree.ts';

const TEXT = /(^|\/)(\.[\w.]+|[^.]+)$|\.(ts|mjs|astro|json|md|yml|yaml|css|html|svg|txt|csv|liquid|xml)$/;
const files = FILES.filter((path) => TEXT.test(path) && path !== 'package-lock.json');

/** Lines that match, as file:line: text. */
function lines(pattern: RegExp, allowed: (hit: string) => boolean = () => false): string[] {
  return files.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((text, index) => {
        const hits = [...text.matchAll(pattern)].map(([hit]) => hit).filter((hit) => !allowed(hit));
        return hits.length > 0 ? [`${path}:${index + 1}: ${hits.join(' ')}`] : [];
      }),
  );
}

test('no paths of one machine', () => {
  expect(lines(/(?<![\w.~-])\/(?:home|root|Users|work|workspace)\/[\w.-]+/g)).toEqual([]);
});

test('no registry or mirror hosts', () => {
  expect(lines(/https?:\/\/[^/\s'"`]*(?:registry|artifactory|nexus|verdaccio|mirror)[^/\s'"`]*/g)).toEqual([]);
});

test('no e-mail addresses but those of reserved domains, and of mail providers whose rules a test checks', () => {
  const reserved = /[@.](example|example\.(com|org|net)|test|invalid|localhost)$/i;
  const provider = /[@.](gmail|googlemail|mailinator)\.com$/i;
  const address = /[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b/gi;
  expect(lines(address, (hit) => reserved.test(hit) || provider.test(hit))).toEqual([]);
  expect(lines(address, (hit) => !provider.test(hit)).filter((line) => !/\.test\.ts:/.test(line))).toEqual([]);
});

test('no words that promise work not done', () => {
  expect(lines(/\b(?:TODO|FIXME|XXX)\b/g, () => false).filter((line) => !line.startsWith('tests/structure/'))).toEqual(
    [],
  );
});

test('the welcome credit and the body that makes a key are defined in one place', () => {
  const ours = lines(/\d\.50 EUR of|credit of \d|you@example\.org/g).filter((line) =>
    /^(api|build|data)\/(?!.*\.test\.ts:)/.test(line),
  );
  expect(ours).toEqual([expect.stringMatching(/^api\/contract\/errors\.ts:\d+: you@example\.org$/)]);
});
