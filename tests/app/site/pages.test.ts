// Every page of the built site: valid HTML, working links, and few small files.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { ERRORS } from '../../../api/contract/errors.ts';
import { guideSearch, type Section } from '../../../site/search/guides.ts';
import { QUESTIONS } from '../../support/guide-questions.ts';
import { htmlValidator } from '../../support/html-validator.ts';
import { type PageType, SCRIPT } from '../../support/site-types.ts';
import { openSite } from '../../support/site-world.ts';
import { verifies } from '../../support/verifies.ts';

const site = await openSite();
afterAll(() => site.close());

/** A page as a browser gets it. */
const ask = async ({ path, headers = {} }: Pick<PageType, 'path' | 'headers'>): Promise<string> =>
  (await site.app.ask(path, { headers: { Accept: 'text/html', ...headers } })).text();

/** Pages without those that redirect. */
const pages = () => [...site.pages].filter(([path]) => !/^\/(explore|guides\/reference)\//.test(path));

describe('HTML', () => {
  test('of every page type is valid', async () => {
    const wrong: string[] = [];
    for (const type of site.types) {
      const { name } = type;
      const { results } = await htmlValidator.validateString(await ask(type));
      for (const { messages } of results)
        for (const { ruleId, message, line, selector } of messages)
          wrong.push(`${name}: ${ruleId}: ${message} (line ${line}, ${selector})`);
    }
    expect(wrong).toEqual([]);
  });

  test('of the nightly run has one of these types', () => {
    const stray = pages().filter(([path]) => !site.types.some(({ written }) => written?.test(path)));
    expect(stray).toEqual([]);
  });

  test('for people is in the site map', async () => {
    const maps = ['pages', 'tools-1', 'harbours-1'].map((part) => site.app.ask(`/sitemap/${part}.xml`));
    const listed = (await Promise.all((await Promise.all(maps)).map((response) => response.text())))
      .join('')
      .matchAll(/<loc>([^<]+)<\/loc>/g);
    const paths = new Set([...listed].map(([, url = '']) => new URL(url).pathname.replace(/(.)\/$/, '$1')));
    const missing = pages()
      .map(([path]) => path)
      .filter((path) => !paths.has(path.replace(/(.)\/$/, '$1')));
    // The page of records on hosts without the API has no address of its own, and results are not for crawlers.
    expect(missing.sort()).toEqual(['/404.html', '/record/harbours/', '/record/tools/', '/search/']);
    for (const path of paths) {
      const response = await site.app.ask(path, { headers: { Accept: 'text/html' } });
      expect([path, response.status]).toEqual([path, 200]);
      await response.body?.cancel();
    }
  });

  test('has one heading of the first level and a title of its own', () => {
    const titles = new Map<string, string>();
    for (const [path, html] of pages()) {
      expect(html.match(/<h1[ >]/g), path).toHaveLength(1);
      const title = /<title>([^<]+)<\/title>/.exec(html)?.[1] ?? '';
      expect(titles.get(title), `${path} is called ${title}`).toBeUndefined();
      titles.set(title, path);
    }
    expect(titles.size).toBeGreaterThan(30);
  });
});

/** Width and height of a PNG file, from its header. */
const size = (png: Buffer): number[] => [
  png.subarray(1, 4).toString() === 'PNG' ? png.readUInt32BE(16) : 0,
  png.readUInt32BE(20),
];
const sizes = (tag: (name: string) => string | undefined) =>
  ['width', 'height'].map((side) => Number(tag(`image:${side}`)));

test('a record has the image of its dataset', async () => {
  const html = await ask({ path: `/datasets/tools/${site.other}` });
  expect(html).toContain(`<meta property="og:image" content="${site.origin}/og/tools.png">`);
});

test('pages from Astro have Open Graph tags, and the home page a card with a chart of each dataset', () => {
  for (const [path, html] of site.pages) {
    if (!/^\/(changes|status|guides|datasets\/[^/]+|)\/?$/.test(path)) continue;
    const tag = (name: string) => new RegExp(`<meta property="og:${name}" content="([^"]+)"`).exec(html)?.[1];
    expect([path, tag('title'), tag('url'), tag('type')]).toEqual([
      path,
      /<title>([^<]+)<\/title>/.exec(html)?.[1],
      site.origin + path,
      'website',
    ]);
    expect(tag('description'), path).toBeDefined();
    const image = tag('image')?.replace(site.origin, '') ?? '';
    expect(size(readFileSync(join(site.dist, image))), `${path} ${image}`).toEqual(sizes(tag));
    expect(tag('image:alt'), path).toMatch(/^[A-Z]/);
  }
  const home = site.pages.get('/') ?? '';
  const cards = home.match(/<article class="card">.*?<\/article>/gs) ?? [];
  expect(cards).toHaveLength(2);
  for (const card of cards) expect(card).toMatch(/<svg [^>]*aria-label="(World map|Histogram) of /);
  expect(home).toContain('>Get an API key</a>');
  expect(home).not.toContain('PAID');
});

test('every link within the site works', async () => {
  const known = new Map<string, string | null>();
  const get = async (path: string): Promise<string | null> => {
    let text = known.get(path);
    if (text === undefined) {
      const response = await site.app.ask(path, { headers: { Accept: 'text/html, */*;q=0.5' } });
      // Always reads the body: an unread one keeps its file open.
      const body = await response.text();
      text = response.status === 200 ? body : null;
      known.set(path, text);
    }
    return text;
  };
  const dead: string[] = [];
  let links = 0;
  for (const [page, html] of pages()) {
    // Ignores links in comments and in the calls to copy.
    for (const [, href = ''] of html.matchAll(/<(?:a|link)\s[^>]*href="([^"]*)"/g)) {
      const url = new URL(href.replaceAll('&amp;', '&'), `${site.origin}${page}`);
      if (url.origin !== site.origin) continue;
      links += 1;
      const text = await get(url.pathname + url.search);
      if (text === null) dead.push(`${page} → ${href}`);
      else if (url.hash !== '' && !text.includes(`id="${decodeURIComponent(url.hash.slice(1))}"`))
        dead.push(`${page} → ${href}: no such place`);
    }
  }
  expect([...new Set(dead)]).toEqual([]);
  expect(links).toBeGreaterThan(500);
}, 120_000);

/** Transferred bytes. */
const sent = (content: string | Uint8Array): number => gzipSync(content).length;

test('pages are small: few files, none of another host, no script that blocks, little of it', async () => {
  const budget: Record<string, { requests: number; html: number; css: number; js: number }> = {};
  for (const type of site.types) {
    const { name } = type;
    const html = await ask(type);
    const loaded = [
      ...html.matchAll(
        /<(?:script|img|iframe)\s[^>]*src="([^"]*)"|<link rel="(?:stylesheet|preload|modulepreload)"[^>]*href="([^"]*)"/g,
      ),
    ].map(([, src, href]) => src ?? href ?? '');
    expect(
      loaded.filter((each) => !/^\/(ops\/)?assets\//.test(each)),
      name,
    ).toEqual([]);
    for (const [tag] of html.matchAll(/<script\s[^>]*src=[^>]*>/g)) expect(tag, name).toMatch(/ defer>|type="module"/);
    expect(html.match(/<script(?![^>]*(src=|id="theme"|application\/(ld\+)?json))/g), name).toBeNull();
    const sizes = async (extension: string) => {
      const files = await Promise.all(
        loaded.filter((each) => each.endsWith(extension)).map(async (each) => (await site.app.ask(each)).arrayBuffer()),
      );
      return files.reduce((sum, file) => sum + sent(new Uint8Array(file)), 0);
    };
    budget[name] = {
      requests: 1 + new Set(loaded).size,
      html: sent(html),
      css: await sizes('.css'),
      js: await sizes('.js'),
    };
  }
  if (process.env['BUDGET']) console.table(budget);
  for (const { name, script = SCRIPT } of site.types) {
    const { requests, html, css, js } = budget[name]!;
    expect(requests, name).toBeLessThanOrEqual(script > SCRIPT ? 6 : 4);
    expect(js, `script of ${name}`).toBeLessThanOrEqual(script);
    expect(css, `style of ${name}`).toBeLessThanOrEqual(12_400);
    expect(html, `HTML of ${name}`).toBeLessThanOrEqual(60_000);
  }
});

test('the search of the guides answers questions as people ask them', async () => {
  const { body } = await site.app.json('/guides/search.json');
  const find = guideSearch(body as unknown as Section[]);
  const missed = QUESTIONS.flatMap(([question, addresses, within]) => {
    const first = find(question).map(({ at }) => at);
    return first.slice(0, within).some((at) => addresses.includes(at))
      ? []
      : [`${question}: ${first.slice(0, 3).join(', ')}`];
  });
  expect(missed).toEqual([]);
  expect(QUESTIONS.length).toBeGreaterThan(25);
});

test.each([
  ['errors', Object.keys(ERRORS)],
  ['packs-reference', ['title', 'sources.<id>.pins[].version', 'attributes.<name>.sla.warn', 'pages.at']],
])('the guide %s has the tables from the source, and not the note for readers of its file', async (name, codes) => {
  const guide = (await ask({ path: `/guides/${name}/` })).replaceAll('&lt;', '<').replaceAll('&gt;', '>');
  expect(codes.filter((code) => !guide.includes(`<td><code>${code}</code></td>`))).toEqual([]);
  expect(guide).not.toContain('guide of a register');
});

test('a feed of changes is valid Atom, with an entry per change and no paid value', async () => {
  const response = await site.app.ask('/feeds/tools.atom');
  expect(response.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
  const xml = await response.text();
  expect(xml).toBe(readFileSync(join(site.dist, 'feeds/tools.atom'), 'utf8'));
  const entries = xml.match(/<entry>.*<\/entry>/g) ?? [];
  expect(entries.length).toBeGreaterThan(3);
  const ids = entries.map((entry) => /<id>(.*?)<\/id>/.exec(entry)?.[1]);
  expect(new Set(ids).size).toBe(ids.length);
  for (const entry of entries)
    expect(entry).toMatch(/<title>.+<\/title><updated>[\dT:.-]+Z<\/updated><link href="http:/);
  const { body } = await site.app.json('/v1/tools/changelog?days=365&limit=50');
  const paid = (body['items'] as { new_value?: unknown; attribute: string }[]).filter(
    (item) => item.new_value === undefined,
  );
  expect(paid.length).toBeGreaterThan(0);
  expect(xml.match(/its value is part of paid answers/g)?.length).toBeGreaterThan(0);
  expect((await site.app.ask('/feeds/nobody.atom')).status).toBe(404);
});

describe('a record as a page', () => {
  test('that does not exist is a page for people, and an error for programs', async () => {
    const lost = await site.app.ask('/datasets/tools/none', { headers: { Accept: 'text/html' } });
    expect([lost.status, lost.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await lost.text()).toContain('<h1>Not found</h1>');
    // The page of records on hosts without the API names none.
    // A short name, such as `7`, may be part of the markup.
    for (const { slug, name } of site.app.records['tools']!)
      for (const text of [slug, name].filter(({ length }) => length > 3))
        expect(site.pages.get('/record/tools/')).not.toContain(text);
    const { status, body } = await site.app.json('/datasets/tools/none', { headers: { Accept: 'text/markdown' } });
    expect([status, body['error']]).toEqual([404, 'unknown_entity']);
  });

  test('shows only public values to everyone, and may be cached', async () => {
    const response = await site.app.ask(`/datasets/tools/${site.other}`, { headers: { Accept: 'text/html' } });
    const html = await response.text();
    const stored = site.app.records['tools']!.find(({ slug }) => slug === site.other)!;
    expect(response.headers.get('cache-control')).toBe('public, no-cache');
    expect(html).toContain(`<h1>${stored.name.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}`);
    const schema = await site.app.json('/v1/tools/schema');
    for (const { name, public: open } of schema.body['attributes'] as { name: string; public: boolean }[]) {
      const row = new RegExp(`id="field-${name}">.*?</div>(?=\n)`, 's').exec(html)?.[0] ?? '';
      expect(row.includes('aria-label="Source of ') && !open, name).toBe(false);
    }
    const [, jsonld = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(html) ?? [];
    expect(JSON.parse(jsonld)).toMatchObject({ '@type': 'ItemPage', mainEntity: { identifier: stored.id } });
  });

  test('shows each value with its source by name, date and confidence, and offers the paid values for their price', async () => {
    const schema = await site.app.json('/v1/tools/schema');
    const attributes = schema.body['attributes'] as { name: string; public: boolean }[];
    const records = site.app.records['tools']!;
    const histories = new Set<string>();
    for (const { slug, name, attributes: values } of records) {
      const html = await ask({ path: `/datasets/tools/${slug}` });
      const paid = attributes.filter(({ name: attribute, public: open }) => !open && values[attribute] !== undefined);
      const count = paid.length === 1 ? '1 value' : `${paid.length} values`;
      expect(html.includes(`>Load ${count}: €0.004<`), slug).toBe(paid.length > 0);
      const rows = new Map(
        [...html.matchAll(/id="field-([\w.]+)">(.*?)<\/div>(?=\n)/gs)].map(([, id = '', row = '']) => [id, row]),
      );
      for (const { name: attribute, public: open } of attributes) {
        const row = rows.get(attribute);
        // Which of the paid fields have a value is paid too.
        if (!open) expect(row?.includes('href="#load"') ?? false, `${slug} ${attribute}`).toBe(paid.length > 0);
        else if (values[attribute] === undefined) expect(row).toBeUndefined();
        else {
          expect(row, `${slug} ${attribute}`).toMatch(
            /<span>checked <time[^>]+>\w{3} \d+, 20\d\d<\/time><\/span> <span>confidence \d\.\d\d/,
          );
          expect(row).not.toMatch(/aria-label="Source of [\w ]+: [^" ]*\.example"/);
          expect(row).toMatch(/<details><summary>(Evidence|History \(\d+\))<span/);
        }
      }
      for (const [, id = ''] of html.matchAll(/<a download="([\w.]+)\.csv"/g)) histories.add(id);
      expect(html.match(/<title>.*?<\/title>/s)?.[0], name).toContain(' · ');
    }
    expect([...histories].sort()).toEqual(
      [...histories].sort().filter((id) => attributes.find(({ name }) => name === id)?.public),
    );
    expect(histories.size).toBeGreaterThan(0);
  });

  test('lists the same thing from other sources by price', async () => {
    let compared = 0;
    for (const { slug, attributes } of site.app.records['tools']!) {
      const html = await ask({ path: `/datasets/tools/${slug}` });
      const [section] = /<section aria-labelledby="same">.*?<\/section>/s.exec(html) ?? [];
      if (section === undefined) continue;
      compared += 1;
      const number = (text: unknown) => /\d+$/.exec(String(text))?.[0];
      const slugs = [...section.matchAll(/href="\/datasets\/tools\/([^"]+)"/g)].map(([, other]) => other);
      const others = site.app.records['tools']!.filter((each) => slugs.includes(each.slug));
      expect(others.map((each) => number(each.attributes['model']))).toEqual(
        others.map(() => number(attributes['model'])),
      );
      expect(others.map((each) => each.attributes['maker'])).not.toContain(attributes['maker']);
      const prices = [...section.matchAll(/<td class="figure">([\d,.]+)/g)].map(([, text = '']) =>
        Number(text.replaceAll(',', '')),
      );
      expect(prices).toEqual(prices.toSorted((a, b) => a - b));
    }
    expect(compared).toBeGreaterThan(1);
  });

  test('that was paid for shows every value, is charged like the JSON and is never cached', async () => {
    verifies('limit.caching');
    const created = await site.app.json('/v1/keys', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 'reader@site.example' }),
    });
    const key = String(created.body['key']);
    const headers = { Accept: 'text/html', Authorization: `Bearer ${key}` };
    const response = await site.app.ask(`/v1/tools/entities/${site.other}`, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    expect(response.headers.get('etag')).toBeNull();
    const json = await site.app.ask(`/v1/tools/entities/${site.other}`, {
      headers: { ...headers, Accept: 'application/json' },
    });
    expect(response.headers.get('x-charge-eur')).toBe(json.headers.get('x-charge-eur'));
    const html = await response.text();
    const { attributes } = (await json.json()) as { attributes: Record<string, unknown> };
    expect(html.match(/<div class="fact" /g)).toHaveLength(Object.keys(attributes).length);
    const again = await site.app.ask(`/v1/tools/entities/${site.other}`, {
      headers: { ...headers, 'If-None-Match': '*' },
    });
    expect(again.status).toBe(200);
    const without = await site.app.ask(`/v1/tools/entities/${site.other}`, { headers: { Accept: 'text/html' } });
    expect(without.status).toBe(402);
  });

  test('that was paid for has the charts and similar records of the free page, and no other paid values', async () => {
    const section = (html: string, id: string) =>
      new RegExp(`<section aria-labelledby="${id}">.*?</section>`, 's').exec(html)?.[0];
    const paid = async (path: string) =>
      (await site.app.ask(path, { admin: true, headers: { Accept: 'text/html' } })).text();
    let courses = 0;
    for (const dataset of ['tools', 'harbours'])
      for (const { slug } of site.app.records[dataset]!) {
        const free = await ask({ path: `/datasets/${dataset}/${slug}` });
        const full = await paid(`/v1/${dataset}/entities/${slug}`);
        expect(section(full, 'similar'), slug).toBe(section(free, 'similar'));
        expect(section(full, 'history'), slug).toBe(section(free, 'history'));
        courses += Number(section(full, 'history') !== undefined);
      }
    expect(courses).toBeGreaterThan(0);
    const path = `/v1/tools/entities/${site.other}`;
    expect(section(await paid(path), 'similar')).toContain('/datasets/tools/');
    const then = await paid(`${path}?as_of=2026-11-19T12:00:00Z`);
    expect(then).toContain('<div class="fact" ');
    for (const id of ['similar', 'history']) expect(section(then, id)).toBeUndefined();
  });
});
