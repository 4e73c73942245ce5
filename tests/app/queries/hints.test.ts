// The hint on an empty page of search or on the first of many, over REST, MCP and A2A.
import { afterAll, describe, expect, it } from 'vitest';
import { ADMIN, appOfAll } from '../../support/app.ts';
import { startListener } from '../../support/listening.ts';
import { connectMcp } from '../../support/mcp-clients.ts';
import { newKey } from '../../support/money-on-stores.ts';

const app = await appOfAll({ nights: true });
const { headers: key } = await newKey(app, 5);
afterAll(() => expect(app.faults).toEqual([]));

const hint = async (query: string, headers: Record<string, string> = key) => {
  const { status, body } = await app.json(`/v1/tools/entities?${query}`, { headers });
  expect([status, Array.isArray(body['items'])]).toEqual([200, true]);
  return body['hint'];
};

describe('an empty page has a hint', () => {
  it.each([
    ['kind=sow', 'No record has kind=sow; nearest: saw; facets?by=kind lists them.'],
    ['kind=zzz', 'No record has kind=zzz; known: saw, gauge, plane, drill, other, lamp; facets?by=kind lists them.'],
    ['kind=nordwerk', 'No record has kind=nordwerk, but maker=nordwerk matches some.'],
    ['maker=nordwrk', 'No record has maker=nordwrk; nearest: Nordwerk; facets?by=maker lists them.'],
    ['q=saw+qqqq', 'No record has a word that begins with "qqqq".'],
    ['q=norwderk', 'No record has a word that begins with "norwderk". Did you mean "nordwerk"?'],
    ['q=nordwek+saw', 'No record has a word that begins with "nordwek". Did you mean "nordwerk saw"?'],
    [
      'q=nordwek+qqqqq',
      'No record has a word that begins with "nordwek"; no record has a word that begins with "qqqqq".',
    ],
    [
      'q=qqqq&kind=sow',
      'No record has a word that begins with "qqqq"; no record has kind=sow; nearest: saw; facets?by=kind lists them.',
    ],
    ['min_mass=499', 'No record has min_mass=499.'],
    ['ids=abc,def', 'No record has the id, slug or key abc or def.'],
    ['kind=saws', 'No record has kind=saws; nearest: saw; facets?by=kind lists them.'],
    ['maker=nord-werk', 'No record has maker=nord-werk; nearest: Nordwerk; facets?by=maker lists them.'],
    [
      'kind=zzz&maker=nordwerk',
      expect.stringMatching(
        /^No record has kind=zzz; known with maker=nordwerk: .+; facets\?by=kind&maker=nordwerk lists them\.$/,
      ),
    ],
    ['kind=saw OR drill', 'No record has kind=saw or drill; did you mean kind=saw,drill? A comma means "or".'],
    ['kind=saw|zzz', 'No record has kind=saw|zzz; did you mean kind=saw,zzz? A comma means "or".'],
    [
      "filter=kind='Saw' AND mass>0",
      "No record has filter=kind='Saw'; letter case counts there, CASEI on both sides ignores it.",
    ],
    [
      "filter=kind='lamp' AND NOT kind='lamp'",
      "Each condition matches records, but no record meets all of them; remove one of these: filter=kind='lamp', filter=NOT kind='lamp'.",
    ],
    ['near=-80,0,1', 'No record is within 1 km of -80,0.'],
    ['bbox=179,-80,-179,-79', 'No record is in bbox=179,-80,-179,-79.'],
  ])('%s: %s', async (query, line) => expect(await hint(query)).toEqual(line));

  it('which condition to leave out, when only the combination matches nothing', async () => {
    expect(await hint('kind=lamp&not_kind=lamp')).toBe(
      'Each condition matches records, but no record meets all of them; remove one of these: kind=lamp, not_kind=lamp.',
    );
    expect(await hint('has_name=true&kind=lamp&not_kind=lamp&min_mass=1&max_mass=0.5')).toMatch(
      /^Each condition matches records, but no record meets all of them; use fewer conditions, such as .+ alone\.$/,
    );
  });

  it('none when there are records, in tables, and after the first page', async () => {
    expect(await hint('kind=saw&limit=1')).toBeUndefined();
    const table = await app.ask('/v1/tools/entities?kind=sow&format=ndjson', { headers: key });
    expect(await table.text()).toBe('');
  });

  it('which ids are unknown, also when others are found', async () => {
    const { id, slug } = app.records['tools']?.[0] ?? { id: '', slug: '' };
    expect(await hint(`ids=${slug},nobody,${id}`)).toBe('No record has the id, slug or key nobody.');
    expect(await hint(`ids=${slug},nobody`, {})).toBe('No record has the id, slug or key nobody.');
    expect(await hint(`ids=${slug}`)).toBeUndefined();
  });

  it('that words should be changed, before conditions', async () => {
    const line = await hint('q=nordwerk&maker=leihgut');
    expect(line).toBe(
      'No record with maker=leihgut has a word that begins with "nordwerk"; records with maker=Nordwerk have one. Try another spelling.',
    );
  });

  it('nothing about values that facets withhold', async () => {
    // No maker has five tools, so facets reveal no domain to a key, but to an operator.
    const { body } = await app.json('/v1/tools/facets?by=domain', { headers: key });
    const told = (body['values'] as { value: string }[]).map(({ value }) => value);
    const all = (await app.json('/v1/tools/facets?by=domain', { admin: true })).body['values'] as { value: string }[];
    const secret = all.map(({ value }) => value).find((value) => !told.includes(value)) as string;
    const typo = `${secret}x`;
    expect(await hint(`domain=${typo}`)).not.toContain(`: ${secret}`);
    expect(await hint(`domain=${typo}`, { Authorization: `Bearer ${ADMIN}` })).toContain(`nearest: ${secret}`);
  });

  it('the same without a key, of public values and words alone', async () => {
    expect(await hint('maker=nordwrk', {})).toBe(await hint('maker=nordwrk'));
    const { status } = await app.json('/v1/tools/entities?domain=x');
    expect(status).toBe(402);
  });

  it('the same in Markdown and to tools and skills', async () => {
    const line = await hint('maker=nordwrk');
    const text = await (await app.ask('/v1/tools/entities.md?maker=nordwrk', { headers: key })).text();
    expect(text.replaceAll('\\', '')).toContain(` ${line}\n`);
    const at = await startListener(app);
    const client = await connectMcp('2025-11-25', `${at.base}/mcp`, key);
    const { structuredContent, content } = await client.call('tools_search', { maker: 'nordwrk', format: 'json' });
    const paged = await client.call('tools_search', { limit: 1 });
    expect(paged.content[0]?.text).toMatch(/\nNext page: the same call with cursor: [\w-]+\n\nCharged 0\.008 EUR\.\n$/);
    await client.close();
    await at.stop();
    expect([structuredContent?.['hint'], content[0]?.text]).toEqual([
      line,
      expect.stringContaining('nearest: Nordwerk'),
    ]);
    const data = { skill: 'entity_search', dataset: 'tools', filters: { maker: 'nordwrk' } };
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] };
    const init = { method: 'POST', body: JSON.stringify({ message }), headers: key };
    expect(JSON.stringify((await app.json('/a2a/v1/message:send', init)).body)).toContain(`"hint":"${line}"`);
  });
});

describe('the first of many that hold some words', () => {
  it('names the order by relevance', async () => {
    const line = 'Ordered by quality; sort=relevance puts the best match first.';
    expect(await hint('q=a&limit=1')).toBe(line);
    expect(await hint('q=a&limit=1&not_status=discontinued&fields=name')).toBe(line);
    expect(await hint('q=a&limit=1&fields=name')).toBe(
      `${line} Counted too: records that no source lists any more (status=discontinued, 1 in the dataset); not_status=discontinued leaves them out.`,
    );
  });
  it('names the order by distance of a search with near', async () => {
    const near = 'near=47,8.5,20020';
    expect(await hint(`${near}&limit=1`)).toBe('Results are sorted by quality: sort=distance lists the nearest first.');
    expect(await hint(`q=a&limit=1&${near}`)).toBe('Ordered by quality; sort=relevance puts the best match first.');
    expect(await hint(`${near}&limit=1&sort=distance`)).toBeUndefined();
  });
  it('but not with an explicit order, or when all are shown', async () => {
    expect(await hint('q=a&limit=1&sort=-quality')).toBeUndefined();
    expect(await hint('q=a&limit=1&sort=relevance')).toBeUndefined();
    expect(await hint('limit=1')).toBeUndefined();
    expect(await hint('q=nordwerk&limit=100')).toBe('Ordered by quality; sort=relevance puts the best match first.');
  });
});
