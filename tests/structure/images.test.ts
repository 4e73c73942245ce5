// The images of the Dockerfile: each has the packages that its programs load, and no others.
import { globSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { packagesOf } from '../support/program-packages.ts';
import { exists, isTest, read } from './tree.ts';

const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
const images = JSON.parse(read('deploy/images.json')) as Record<
  'api' | 'nightly',
  { programs: string[]; omit: string[] }
>;

/** Modules that the programs load by name: packs with their collectors, the pages for people. */
const PACKS = 'packs/*/{pack,collect}.ts';
const files = (...patterns: string[]) => patterns.flatMap((each) => globSync(each)).filter((path) => !isTest(path));

/** Dependencies of package.json that none of the modules loads, sorted. */
function unused(programs: string[], without: string[] = []): string[] {
  const loaded = packagesOf(programs, without);
  return Object.keys(dependencies)
    .filter((name) => !loaded.has(name))
    .sort();
}

describe('deploy/images.json', () => {
  test('the image of the API lacks what only the nightly run loads', () => {
    const { programs, omit } = images.api;
    // Without Astro the API starts no rebuild (api/rewrite.ts), and only npm start builds (api/builder.ts).
    expect(omit).toEqual(unused([...programs, ...files(PACKS)], ['build/night/rewrite.ts', 'build/nightly.ts']));
  });

  test('the image of the nightly run lacks what only the API loads', () => {
    const { programs, omit } = images.nightly;
    const pages = files('astro.config.mjs', 'site/**/*.{ts,astro,mjs}');
    expect(omit).toEqual(unused([...programs, ...files(PACKS), ...pages]));
  });

  test('every dependency is in one of them', () => {
    expect(images.api.omit.filter((name) => images.nightly.omit.includes(name))).toEqual([]);
  });
});

describe('Dockerfile', () => {
  const dockerfile = read('Dockerfile');

  test('copies files that exist and are not ignored', () => {
    const allowed =
      read('.dockerignore')
        .match(/^!\S+/gm)
        ?.map((line) => line.slice(1)) ?? [];
    expect(allowed.filter((path) => !path.includes('*') && !exists(path))).toEqual([]);
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list = '']) => list.split(' '));
    expect(copied.filter((path) => path !== '.' && !allowed.includes(path))).toEqual([]);
    for (const { programs } of Object.values(images))
      for (const path of programs) expect(exists(path), path).toBe(true);
  });

  test('uses no user with rights, and Node directly, so that it gets the signals', () => {
    const stages = dockerfile.split(/^FROM /m);
    for (const name of ['api', 'nightly']) {
      const stage = stages.find((each) => each.startsWith(`base AS ${name}\n`)) ?? '';
      expect(stage).toMatch(/^USER 10001:10001$/m);
      expect(stage).toMatch(/^CMD \["node", /m);
    }
  });
});
