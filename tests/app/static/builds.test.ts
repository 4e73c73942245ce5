// Complete nights compared byte by byte with expected output; `UPDATE_BUILDS=1 npx vitest run
// tests/app/static/builds.test.ts` rewrites it.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { THEME_ELEMENT } from '../../../api/pages/frame.ts';
import { runNight } from '../../../build/night/run.ts';
import { type Config, readConfig } from '../../../config.ts';
import { currentRelease } from '../../../data/model/manifest.ts';
import { scratchOfAll, still } from '../../support/night-pack.ts';
import { verifies } from '../../support/verifies.ts';
import { withCopies } from '../../support/whole-night.ts';

verifies('record.url-md', 'markdown.full-text', 'full-text.get');

const UPDATE = process.env['UPDATE_BUILDS'] === '1';
const CASES = readdirSync(import.meta.dirname).filter((name) => existsSync(join(import.meta.dirname, name, 'input')));
/**
 * Left out: descriptions of the API, which live.test.ts compares with the running API, and binary files with
 * their sizes and hashes (tests/process/analysts.test.ts).
 */
const LEFT_OUT =
  /^((\.build|\.well-known|assets|docs|guides|mcp|sitemap)\/.*|_headers|robots\.txt|openapi\.json|auth\.md|og\/.*|favicon\.ico|sitemap\.xml|.*llms\.txt|files\/.*(\.(parquet|duckdb|jsonld)|index\.(html|json))|v1\/(datasets|catalog)(\.md)?)$/;

/** The files of a folder by path, with their bytes. */
function filesOf(root: string): Map<string, string> {
  const entries = existsSync(root) ? readdirSync(root, { recursive: true, withFileTypes: true }) : [];
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.sort().map((path) => [path.slice(root.length + 1), readFileSync(path, 'utf8')]));
}

/** Times of the last writes of files and changes of folders, in nanoseconds. */
function stamps(root: string): Map<string, bigint> {
  const paths = [root, ...readdirSync(root, { recursive: true }).map((path) => join(root, String(path)))];
  // SQLite touches the folder of its lock.
  const compared = paths.filter((path) => path !== join(root, '.build'));
  return new Map(compared.map((path) => [path, statSync(path, { bigint: true }).mtimeNs]));
}

describe.each(CASES)('%s', (name) => {
  const folder = join(import.meta.dirname, name);
  const data = scratchOfAll();
  const settings = {
    DATA_DIR: join(data, 'var'),
    DIST_DIR: join(data, 'dist'),
    BASE_URL: 'https://register.example/data',
  };
  const config: Config = readConfig({ ...settings, PACK_DIRS: join(folder, 'input') });
  const night = (given: Config = config, now?: string) => runNight(given, still(now), { only: null, accept: false });
  let written: Map<string, string>;

  beforeAll(async () => {
    await withCopies(config.DIST_DIR);
    expect((await night()).failures).toEqual([]);
    // Release ids depend on the Parquet writer, asset names on the style sheet: neither is compared.
    let ids: string[] = [];
    for (const id of readdirSync(join(folder, 'input')))
      ids = ids.concat((await currentRelease(config.DATA_DIR, id)) ?? []);
    const settled = (text: string) =>
      ids.reduce((all, id) => all.replaceAll(id, '{release}'), text).replace(/assets\/[\w.-]+/g, 'assets/{name}');
    const kept = [...filesOf(config.DIST_DIR)].filter(([path]) => !LEFT_OUT.test(path));
    written = new Map(kept.map(([path, text]) => [path, settled(text)]));
    if (!UPDATE) return;
    rmSync(join(folder, 'output'), { recursive: true, force: true });
    for (const [path, text] of written) {
      mkdirSync(dirname(join(folder, 'output', path)), { recursive: true });
      writeFileSync(join(folder, 'output', path), text);
    }
  }, 180_000);

  test('writes exactly the files expected', () => {
    const expected = filesOf(join(folder, 'output'));
    expect([...written.keys()]).toEqual([...expected.keys()]);
    for (const [path, text] of expected) expect(written.get(path), path).toBe(text);
  });

  test('neither pages nor the full text contain paid values', () => {
    const pages = [...written].filter(([path]) => /^datasets\/.*\.md$|llms-full/.test(path));
    expect(pages.length).toBeGreaterThan(1);
    for (const [path, text] of pages) expect(text, path).not.toContain('PAID');
  });

  test('pages for people load nothing from other hosts, and every internal link works', () => {
    // The reference at /docs is a separate application (tests/browser/api-docs.test.ts).
    const pages = [...filesOf(config.DIST_DIR)].filter(([path]) => path.endsWith('.html') && !path.startsWith('docs/'));
    expect(pages.map(([path]) => path)).toContain('index.html');
    for (const [path, html] of pages) {
      expect(html, path).toMatch(/^<!doctype html>\s*<html lang="en">/i);
      expect(/<iframe|<img|<style|<[^>]*\s(style|on\w+)=|="javascript:/i.exec(html)?.[0], path).toBeUndefined();
      // Scripts, which are deferred; data is none.
      expect(html.split(String(THEME_ELEMENT)), path).toHaveLength(2);
      const scripts = [...html.replace(String(THEME_ELEMENT), '').matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
      const known =
        /^<script (src="\/data\/assets\/[\w.]+\.js" defer|type="module" src="\/data\/assets\/[\w.-]+\.js"|type="application\/ld\+json"|type="application\/json" id="viewer-model")>$/;
      expect(
        scripts.filter((tag) => !known.test(tag)),
        path,
      ).toEqual([]);
      expect(html.match(/<h1[ >]/g), path).toHaveLength(1);
      const loaded = [...html.matchAll(/<link rel="(?:stylesheet|icon)" href="([^"]*)"/g)].map(([, href]) => href);
      expect(
        loaded.every((href) => href?.startsWith('/data/assets/') || href?.startsWith('data:')),
        path,
      ).toBe(true);
      const links = [...html.matchAll(/href="([^"]*)"/g)].map(
        ([, href = '']) => new URL(href, `${config.BASE_URL}/${path}`),
      );
      const own = links.filter(({ origin }) => origin === new URL(config.BASE_URL).origin);
      expect(own.length, path).toBeGreaterThan(5);
      for (const { pathname, hash } of own) {
        const file = pathname.replace(/^\/data\//, '').replace(/(^|\/)$/, '$1index.html');
        // Only the API answers requests about records and the present.
        if (/^v1\/[^/]+\/(entities\/|changelog|status)|^healthz$|^(keys|account)$|^(owners|compare)\//.test(file))
          continue;
        const there = [file, `${file}/index.html`, `${file}.md`].find((each) =>
          existsSync(join(config.DIST_DIR, each)),
        );
        expect(there, `${path} → ${pathname}`).toBeDefined();
        const target = hash === '' ? '' : readFileSync(join(config.DIST_DIR, there!), 'utf8');
        if (hash !== '') expect(target, `${path} → ${hash}`).toContain(`id="${hash.slice(1)}"`);
      }
    }
  });

  test('a second night rewrites nothing, nor does a later one without changes', async () => {
    const before = stamps(config.DIST_DIR);
    await night();
    expect(stamps(config.DIST_DIR)).toEqual(before);
    await night(config, '2026-11-21T00:00:00Z');
    expect(stamps(config.DIST_DIR)).toEqual(before);
  }, 60_000);

  test('the same night elsewhere writes the same bytes', async () => {
    const other = { ...config, DATA_DIR: join(data, 'var2'), DIST_DIR: join(data, 'dist2') };
    await night(other);
    expect(filesOf(other.DIST_DIR)).toEqual(filesOf(config.DIST_DIR));
  }, 60_000);

  test('a pack that breaks keeps its files, a pack that is gone loses them', async () => {
    const packs = join(data, 'packs');
    const [id = ''] = readdirSync(join(folder, 'input'));
    cpSync(join(folder, 'input', id), join(packs, id), { recursive: true });
    cpSync(join(import.meta.dirname, '../../packs/harbours'), join(packs, 'harbours'), { recursive: true });
    const given = { ...config, PACK_DIRS: [packs] };
    expect((await night(given)).failures).toEqual([]);
    rmSync(join(packs, id, 'guide.md'));
    expect((await night(given)).failures).toHaveLength(1);
    expect(existsSync(join(config.DIST_DIR, 'v1', id, 'schema'))).toBe(true);
    expect(readdirSync(join(config.DIST_DIR, 'datasets', id)).length).toBeGreaterThan(1);
    rmSync(join(packs, id), { recursive: true });
    expect((await night(given)).failures).toEqual([]);
    expect(readdirSync(join(config.DIST_DIR, 'datasets'))).toEqual(['harbours']);
    expect(existsSync(join(config.DIST_DIR, 'v1', id))).toBe(false);
  }, 60_000);
});
