// Publishing: the pointer names an existing list, moves only with a change, and the previous list is kept.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../../tests/support/night-pack.ts';
import { Output } from './output.ts';
import { publish, readPublished } from './publish.ts';
import { parseManifest } from './publish-manifest.ts';

let root: string;
beforeEach(() => {
  root = scratch();
});

async function night(content: string) {
  const output = new Output(root);
  output.write('v1/a', content);
  output.finish();
  return publish(root, { files: 1, bytes: content.length, releases: { tools: '0123456789abcdef' } });
}
const lists = () => readdirSync(join(root, '.build')).filter((name) => name.startsWith('published-'));

test('the pointer names the list of files with sizes and hashes', async () => {
  expect(readPublished(root)).toBeNull();
  const published = await night('one');
  expect(readPublished(root)).toEqual(published);
  expect(published).toMatchObject({ files: 1, bytes: 3, releases: { tools: '0123456789abcdef' } });
  const list = parseManifest(readFileSync(join(root, '.build', published.manifest), 'utf8'));
  expect(list.get('v1/a')).toMatchObject({ bytes: 3 });
  expect(list.get('v1/a')?.sha256).toMatch(/^[0-9a-f]{64}$/);
});

test('a night without changes moves nothing', async () => {
  await night('one');
  const stamp = () => statSync(join(root, '.build', 'published'), { bigint: true }).ctimeNs;
  const before = stamp();
  await night('one');
  expect(stamp()).toBe(before);
});

test('the previous list is kept, older ones are deleted', async () => {
  const first = await night('one');
  const second = await night('two');
  expect(lists().sort()).toEqual([first.manifest, second.manifest].sort());
  const third = await night('three');
  expect(lists().sort()).toEqual([second.manifest, third.manifest].sort());
  await night('three');
  expect(lists().sort()).toEqual([second.manifest, third.manifest].sort());
});
