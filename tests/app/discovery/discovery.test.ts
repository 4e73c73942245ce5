// Discovery from the root by following links: every document, no dead link, no contradiction.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { appOfAll, BASE } from '../../support/app.ts';
import { scratchOfAll } from '../../support/night-pack.ts';
import { verifies } from '../../support/verifies.ts';

type Json = Record<string, unknown>;

/** Documents in the specification and protocols.md. */
const LISTED = [
  ...['/llms.txt', '/robots.txt', '/openapi.json', '/docs', '/auth.md', '/healthz', '/sitemap.xml', '/favicon.ico'],
  ...['/v1/catalog', '/.well-known/api-catalog', '/.well-known/mcp/server-card.json', '/mcp/server-card'],
  ...['/.well-known/ai-catalog.json', '/.well-known/agent-skills/index.json', '/.well-known/datasets.jsonld'],
  ...['/catalog.jsonld', '/catalog.ttl', '/ogc', '/ogc/api', '/ogc/collections/harbours/items'],
  ...['/.well-known/agent-skills/dataset-register-tools/SKILL.md', '/sitemap/tools-1.xml', '/v1/tools/llms.txt'],
  ...[
    '/.well-known/x402.json',
    '/.well-known/x402',
    '/.well-known/agent-card.json',
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/v1',
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/v1',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-protected-resource/mcp/account',
  ],
  '/.well-known/http-message-signatures-directory',
];

/** Prefixes of addresses in documents, which have no answer themselves. */
const BEGINNINGS: readonly string[] = ['/v1', '/a2a/v1'];

/** Answers by path. */
const found = new Map<string, { status: number; type: string; text: string; headers: Headers }>();

/** Every address of this host in a text, except templates. */
function linksIn(text: string, type: string): string[] {
  const plain = type.includes('json') ? text.replaceAll('\\/', '/') : text.replaceAll('&quot;', '"');
  const named = plain.match(new RegExp(`${BASE.replace(/[.]/g, '\\.')}[^\\s"'<>)\\]\\\\\`|,;]*`, 'g')) ?? [];
  return named.map((url) => url.slice(BASE.length).replace(/[.:]+$/, '')).filter((path) => !/[{}…]|=$|^$/.test(path));
}

const dist = scratchOfAll();
// Astro's pages for people; their links are tested elsewhere (tests/app/site).
for (const page of ['.', 'docs', 'guides', 'changes', 'status', 'datasets/tools', 'datasets/harbours']) {
  mkdirSync(join(dist, page), { recursive: true });
  writeFileSync(join(dist, page, 'index.html'), '<!doctype html><title>page</title>');
}
const app = await appOfAll({ dist, records: 12 });
const queue = ['/'];
while (queue.length > 0) {
  const path = queue.shift() ?? '/';
  const key = path.replace(/#.*$/, '');
  if (found.has(key)) continue;
  const response = await app.ask(key, { headers: { Accept: 'application/json, */*;q=0.5' } });
  const type = response.headers.get('content-type') ?? '';
  const text = await response.text();
  found.set(key, { status: response.status, type, text, headers: response.headers });
  const links = (response.headers.get('link') ?? '').match(/<[^>]+>/g) ?? [];
  if (response.status === 200) queue.push(...linksIn(links.join(' '), ''), ...linksIn(text, type));
}

const document = (path: string) => JSON.parse(found.get(path)?.text ?? 'null') as Json;

describe('a client that follows links from the root', () => {
  verifies('discovery.root', 'discovery.catalog', 'discovery.api-catalog', 'discovery.mcp-card', 'discovery.auth-md');
  verifies('discovery.agent-skills', 'discovery.agent-skill', 'discovery.datasets-jsonld');
  test('reaches every document', () => {
    expect(LISTED.filter((path) => found.get(path)?.status !== 200)).toEqual([]);
  });

  test('finds no dead link: other answers need payment, a parameter, a key or another method', () => {
    const dead = [...found].filter(
      ([path, { status }]) =>
        // Files next to the API, and pages for people, which the nightly run writes
        // (tests/process/analysts.test.ts, tests/app/site).
        !/^\/(files|guides|sql|changes|pricing|connect|search|og)\//.test(path) &&
        ![200, 400, 401, 402, 403, 405, 422].includes(status) &&
        !BEGINNINGS.includes(path),
    );
    expect(dead.map(([path, { status }]) => `${status} ${path}`)).toEqual([]);
    expect(found.size).toBeGreaterThan(60);
  });

  test('gets the announced type of each answer', () => {
    const linkset = document('/v1/catalog')['linkset'] as Record<string, { href: string; type?: string }[]>[];
    const catalog = document('/.well-known/api-catalog')['linkset'] as typeof linkset;
    const targets = [...linkset, ...catalog].flatMap((context) => Object.values(context).filter(Array.isArray).flat());
    const typed = targets.filter(({ href, type }) => type !== undefined && href.startsWith(BASE));
    expect(typed.length).toBeGreaterThan(20);
    for (const { href, type } of typed) {
      const path = href.slice(BASE.length);
      if (BEGINNINGS.includes(path) || found.get(path)?.status !== 200) continue;
      const told = type!.split(';')[0];
      const html = told === 'text/html' ? (await_html(path) ?? '') : (found.get(path)?.type ?? '').split(';')[0];
      expect([path, told]).toEqual([path, html]);
    }
  });

  test('finds the same in the headers of the root', async () => {
    const head = await app.ask('/', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const link = head.headers.get('link') ?? '';
    for (const rel of [
      'api-catalog',
      'service-desc',
      'service-doc',
      'service-meta',
      'describedby',
      'sitemap',
      'status',
    ])
      expect(link).toContain(`rel="${rel}"`);
    expect(head.headers.get('vary')).toContain('Accept');
  });
});

/** Pages for people need another Accept. */
const await_html = (path: string) => (/^\/(docs|datasets\/\w+)$/.test(path) ? 'text/html' : undefined);

describe('documents', () => {
  test('the API catalogue by RFC 9727: linkset, profile, and its own link header', async () => {
    const head = await app.ask('/.well-known/api-catalog', { method: 'HEAD' });
    expect(head.headers.get('content-type')).toBe(
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    );
    expect(head.headers.get('link')).toBe(`<${BASE}/.well-known/api-catalog>; rel="api-catalog"`);
    const { linkset } = document('/.well-known/api-catalog') as { linkset: Json[] };
    for (const context of linkset)
      for (const [relation, targets] of Object.entries(context)) {
        if (relation === 'anchor') expect(targets).toMatch(`${BASE}/`);
        else expect((targets as Json[]).every(({ href }) => typeof href === 'string')).toBe(true);
      }
  });

  test('the catalogue has every dataset with its licence, and a Markdown twin', async () => {
    const { linkset } = document('/v1/catalog') as { linkset: Json[] };
    const tools = linkset.find(({ anchor }) => anchor === `${BASE}/datasets/tools`)!;
    expect(tools['license']).toEqual([
      { href: 'https://creativecommons.org/publicdomain/zero/1.0/', title: 'CC0-1.0' },
    ]);
    const twin = await app.ask('/v1/catalog.md');
    expect(twin.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(await twin.text()).toContain(`](${BASE}/v1/tools/schema)`);
    expect((await app.ask('/v1/catalog')).headers.get('content-type')).toBe('application/linkset+json');
  });

  test('a skill matches its digest, and has a name and a description', async () => {
    const { skills } = document('/.well-known/agent-skills/index.json') as { skills: Record<string, string>[] };
    expect(skills.map(({ name }) => name)).toEqual([
      'dataset-register',
      'dataset-register-harbours',
      'dataset-register-tools',
    ]);
    for (const { name, description, digest, url, type } of skills) {
      const { text, type: told } = found.get(url!.slice(BASE.length))!;
      expect([type, digest]).toEqual(['skill-md', `sha256:${createHash('sha256').update(text).digest('hex')}`]);
      expect(told).toBe('text/markdown; charset=utf-8');
      expect(text.startsWith(`---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n`)).toBe(true);
      expect([name, /^[a-z0-9-]{1,64}$/.test(name!), description!.length <= 1024]).toEqual([name, true, true]);
    }
    expect((await app.ask('/.well-known/agent-skills/nobody/SKILL.md')).status).toBe(404);
  });

  test('the server card is the same in both places, and the AI catalogue leads to it', () => {
    const card = document('/mcp/server-card');
    expect(document('/.well-known/mcp/server-card.json')).toEqual(card);
    expect(card).toMatchObject({ name: 'example.register/dataset-register', version: '1.0.0' });
    expect(String(card['name'])).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    expect(String(card['description']).length).toBeLessThanOrEqual(100);
    const { entries } = document('/.well-known/ai-catalog.json') as { entries: Json[] };
    expect(entries).toContainEqual({
      identifier: 'urn:air:register.example:mcp:dataset-register',
      type: 'application/mcp-server-card+json',
      url: `${BASE}/mcp/server-card`,
    });
    for (const entry of entries) expect(Object.keys(entry).sort()).toEqual(['identifier', 'type', 'url']);
  });

  test('dataset search engines get their required metadata', () => {
    const { dataset } = document('/.well-known/datasets.jsonld') as { dataset: Json[] };
    expect(dataset).toHaveLength(2);
    for (const each of dataset) {
      expect(String(each['description']).length).toBeGreaterThanOrEqual(50);
      for (const member of [
        'name',
        'url',
        'license',
        'creator',
        'datePublished',
        'identifier',
        'keywords',
        'variableMeasured',
      ])
        expect(each[member], member).toBeTruthy();
      expect(each['isAccessibleForFree']).toBe(false);
    }
  });

  test('the catalogue in DCAT has every dataset with its files and services, and is selected by Accept', async () => {
    const graph = document('/catalog.jsonld')['@graph'] as Record<string, Json & Json[]>[];
    const ofType = (type: string) => graph.filter((node) => (node['@type'] as unknown) === type);
    expect(ofType('dcat:Dataset').map((node) => node['dct:identifier'])).toEqual(['harbours', 'tools']);
    expect(ofType('dcat:DataService').map((node) => node['dcat:endpointURL']!['@id'])).toEqual([
      `${BASE}/v1`,
      `${BASE}/ogc`,
    ]);
    for (const dataset of ofType('dcat:Dataset')) {
      const { '@id': id } = dataset as unknown as Json;
      expect(ofType('dcat:Catalog')[0]!['dcat:dataset']).toContainEqual({ '@id': id });
      for (const file of dataset['dcat:distribution']!) {
        expect(file['dct:license']).toEqual({ '@id': 'https://creativecommons.org/publicdomain/zero/1.0/' });
        expect(found.get('/catalog.ttl')!.text).toContain(`<${file['@id']}> a dcat:Distribution ;`);
      }
    }
    for (const [type, path] of [
      ['text/turtle', '/catalog.ttl'],
      ['application/ld+json', '/catalog.jsonld'],
      ['application/linkset+json', '/v1/catalog'],
    ]) {
      const answer = await app.ask('/v1/catalog', { headers: { Accept: type! } });
      expect(answer.headers.get('content-type')).toMatch(type!);
      expect(answer.headers.get('vary')).toContain('Accept');
      expect(await answer.text()).toBe(found.get(path!)!.text);
    }
  });

  test('the site map has the page of every record, once', () => {
    const maps = [...found.keys()].filter((path) => path.startsWith('/sitemap/'));
    expect(maps.sort()).toEqual(['/sitemap/harbours-1.xml', '/sitemap/pages.xml', '/sitemap/tools-1.xml']);
    const pages = maps.flatMap((path) =>
      [...found.get(path)!.text.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url]) => url),
    );
    expect(new Set(pages).size).toBe(pages.length);
    for (const dataset of ['tools', 'harbours'])
      for (const { slug } of app.records[dataset]!) expect(pages).toContain(`${BASE}/datasets/${dataset}/${slug}`);
  });

  test('the icon is an icon', () => {
    expect(found.get('/favicon.ico')!.type).toBe('image/x-icon');
  });

  test('robots are led to the site map, and every group has the rules', () => {
    const { text } = found.get('/robots.txt')!;
    expect(text).toContain(`Sitemap: ${BASE}/sitemap.xml`);
    const groups = text.split('\n\n').filter((group) => group.startsWith('User-agent'));
    for (const group of groups) expect(group).toContain('Disallow: /v1/*/entities');
  });
});

describe('nothing contradicts another', () => {
  test('prices: the list, the description, the guides and the 402', async () => {
    const { datasets } = document('/v1/datasets') as {
      datasets: { id: string; prices: Record<string, { eur: number; usd: number }> }[];
    };
    const { paths } = document('/openapi.json') as { paths: Record<string, { get?: Json }> };
    for (const { id, prices } of datasets) {
      const refused = await app.json(`/v1/${id}/stats?attribute=x`);
      expect([refused.status, refused.body['price_eur'], refused.body['price_usd']]).toEqual([
        402,
        prices['stats']!.eur,
        prices['stats']!.usd,
      ]);
      const told = paths[`/v1/${id}/stats`]?.get?.['x-payment-info'] as {
        price: { amount: string };
        protocols: string[];
      };
      expect(Number(told.price.amount)).toBe(prices['stats']!.usd);
      expect(told.protocols.length > 0).toBe((refused.body['accepts'] as unknown[]).length > 0);
      expect(found.get(`/v1/${id}/llms.txt`)!.text).toContain(
        `|dataset_stats|${prices['stats']!.eur} for each attribute|`,
      );
    }
  });

  test('authorization: challenge, resource and server link to each other', async () => {
    const refused = await app.ask('/v1/keys/me');
    const [, at = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
    const resource = (await app.json(at.slice(BASE.length))).body as { authorization_servers: string[] };
    const server = document('/.well-known/oauth-authorization-server');
    expect(resource.authorization_servers).toEqual([server['issuer']]);
    const { components } = document('/openapi.json') as { components: { securitySchemes: { oauth: { flows: Json } } } };
    expect(components.securitySchemes.oauth.flows['authorizationCode']).toMatchObject({
      authorizationUrl: server['authorization_endpoint'],
      tokenUrl: server['token_endpoint'],
    });
    expect(found.get('/auth.md')!.text).toContain(String(server['registration_endpoint']));
  });
});
