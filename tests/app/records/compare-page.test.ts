// The comparison page: columns and rows, hostile and wrong addresses, opted-out records, and the paid page.
import { describe, expect, test } from 'vitest';
import type { StoredRecord } from '../../../data/model/record.ts';
import { appOfAll, BASE } from '../../support/app.ts';
import { balance, newKey } from '../../support/money-on-stores.ts';
import { optOut, SERVED } from '../../support/owners-stage.ts';
import { mistakesIn } from '../../support/pages-stage.ts';

const app = await appOfAll(SERVED);

const HTML = { headers: { Accept: 'text/html' } };
async function page(path: string): Promise<string> {
  const response = await app.ask(path, HTML);
  expect(response.status, path).toBe(200);
  return response.text();
}
const slugs = (dataset: string) => app.records[dataset]!.map(({ slug }) => slug);
const columns = (text: string) => [...text.matchAll(/<th scope="col" data-slug="([^"]+)"/g)].map(([, slug]) => slug);
const notes = (text: string) => [...text.matchAll(/<p class="note">(.*?)<\/p>/g)].map(([, note]) => note);
const rowOf = (text: string, name: string) =>
  new RegExp(`<tr class="(\\w+)" data-attribute="${name}".*?</tr>`, 's').exec(text);

describe('the address', () => {
  test('lists records by slug or id, in its order and once, and at most five', async () => {
    const [a, b, c, d, e, f] = slugs('tools');
    const { id } = app.records['tools']!.find(({ slug }) => slug === b)!;
    expect(columns(await page(`/compare/tools?ids=${c},${id},${c},${b}`))).toEqual([c, b]);
    expect(columns(await page(`/compare/tools?ids=${a}&ids=${b}`))).toEqual([a, b]);
    expect(columns(await page(`/compare/tools?ids=${[a, 'unknown', b, c, d, e].join()}`))).toEqual([a, b, c, d, e]);
    const six = await page(`/compare/tools?ids=${[a, b, c, d, e, f].join()}`);
    expect(columns(six)).toEqual([a, b, c, d, e]);
    expect(notes(six)).toContain('A comparison has at most 5 records; 1 more record of the address left out.');
    expect(six).toContain('Remove one to add another.');
    expect(six).not.toContain('id="add-form"');
  });

  test('names unknown ids as text, and shows the others', async () => {
    const [a] = slugs('tools');
    const hostile = encodeURIComponent('<img src=x onerror=alert(1)>\u0000"');
    const text = await page(`/compare/tools?ids=${a},${hostile}&add=${hostile}&pieces=${hostile}&colour=red`);
    expect(columns(text)).toEqual([a]);
    expect(notes(text)[0]).toContain('“&lt;img src=x onerror=alert(1)&gt;');
    expect(text).not.toContain('<img');
    expect(await mistakesIn(text)).toEqual([]);
  });

  test('without records shows a search, and is the only one for search engines', async () => {
    const text = await page('/compare/tools');
    expect(columns(text)).toEqual([]);
    expect(text).toContain('<h1 tabindex="-1">Compare records</h1>');
    expect(text).toContain(`<link rel="canonical" href="${BASE}/compare/tools">`);
    expect(text).not.toContain('noindex');
    expect(text.match(/data-swap href="\/compare\/tools\?ids=/g)?.length).toBe(10);
    const [a, b] = slugs('tools');
    const two = await page(`/compare/tools?ids=${b!.toUpperCase()},${a}&pieces=7&utm_source=x`);
    expect(two).toContain(`<link rel="canonical" href="${BASE}/compare/tools?ids=${b},${a}">`);
    expect(two).toContain(`<meta property="og:url" content="${BASE}/compare/tools?ids=${b},${a}">`);
    expect(two).toContain('<meta name="robots" content="noindex">');
  });

  test('finds records to add, by public words only', async () => {
    const [a] = slugs('tools');
    const { name, slug } = app.records['tools']!.find((each) => each.slug !== a)!;
    const text = await page(`/compare/tools?ids=${a}&add=${encodeURIComponent(name)}&pieces=3`);
    expect(text).toContain(`href="/compare/tools?ids=${a},${slug}&amp;pieces=3"`);
    expect(await page('/compare/tools?add=zz-no-such-word')).toContain('No other record has “zz-no-such-word”.');
    expect(await page('/compare/tools?add=%20%2C%20')).toContain('No other record has “,”.');
  });

  test('of an unknown dataset is not found', async () => {
    expect((await app.ask('/compare/nothing', HTML)).status).toBe(404);
  });
});

describe('the table', () => {
  const numbers = ({ attributes }: StoredRecord) => typeof attributes['price.list'] === 'number';

  test('marks differences and the best value, and locks paid columns without their values', async () => {
    const [a, b] = app.records['tools']!.filter(numbers).sort(
      (x, y) => Number(x.attributes['price.list']) - Number(y.attributes['price.list']),
    );
    const dear = app.records['tools']!.filter(numbers).at(-1)!;
    expect(b).toBeDefined();
    const text = await page(`/compare/tools?ids=${dear.slug},${a!.slug}`);
    const [row, state] = rowOf(text, 'price.list')!;
    expect(state).toBe('differs');
    expect(row.match(/class="tag public best">lowest</g)).toHaveLength(1);
    expect(row).toContain(`data-min="${a!.attributes['price.list']}"`);
    expect(row).toMatch(/aria-label="Source of List price: [^"]+">[^<]+<\/a> <time datetime="/);
    expect(rowOf(text, 'price.rental')![1]).toBe('locked');
    expect(rowOf(text, 'price.rental')![0]).not.toContain('data-min');
    expect(text).toContain('>Load the locked values: €0.012<');
    expect(await mistakesIn(text)).toEqual([]);
  });

  test('computes the declared amount from public values', async () => {
    const record = app.records['tools']!.find(numbers)!;
    const total = (text: string) => /<tr class="total">.*?<span class="value-text">(.*?)<\/span>/s.exec(text)![1];
    const price = Number(record.attributes['price.list']);
    expect(total(await page(`/compare/tools?ids=${record.slug}&pieces=3`))).toMatch(
      new RegExp(`^${Math.round(price * 300) / 100} EUR$`),
    );
    expect(total(await page(`/compare/tools?ids=${record.slug}&pieces=0&days=2`))).toBe('price.rental (locked)');
  });

  test('is sorted by the total with one link, and takes several records at once', async () => {
    const price = ({ attributes }: StoredRecord) => Number(attributes['price.list']);
    const [cheap, dear] = app.records['tools']!.filter(numbers).sort((a, b) => price(a) - price(b));
    expect(price(cheap!)).toBeLessThan(price(dear!));
    const text = await page(`/compare/tools?ids=${dear!.slug},${cheap!.slug}&pieces=3`);
    expect(text).toContain(`id="sort-total" href="/compare/tools?ids=${cheap!.slug},${dear!.slug}&amp;pieces=3"`);
    const [a] = slugs('tools');
    const one = await page(`/compare/tools?ids=${a}&pieces=3`);
    const chosen = [...one.matchAll(/name="ids" value="([^"]+)" form="add-several"/g)].map(([, slug]) => slug);
    expect(chosen.length).toBeGreaterThan(2);
    expect(one).toMatch(/<form id="add-several" action="\/compare\/tools"><input type="hidden" name="ids"/);
    const added = await page(`/compare/tools?ids=${a}&pieces=3&ids=${chosen[0]}&ids=${chosen[2]}`);
    expect(columns(added)).toEqual([a, chosen[0], chosen[2]]);
  });

  test('as Markdown has the public values', async () => {
    const [a, b] = slugs('tools');
    const response = await app.ask(`/compare/tools.md?ids=${a},${b}`);
    expect(response.headers.get('content-type')).toContain('text/markdown');
    const text = await response.text();
    expect(text).toContain(`|slug|${a}|${b}|`);
    expect(text).not.toContain('rental');
  });
});

test('the paid page has the compared columns for one call', async () => {
  const { headers } = await newKey(app);
  const record = app.records['tools']!.find(({ attributes }) => typeof attributes['price.rental'] === 'object')!;
  const path = `/v1/tools/compare?ids=${record.slug}`;
  expect((await app.ask(path, HTML)).status).toBe(402);
  const response = await app.ask(path, { headers: { ...headers, Accept: 'text/html' } });
  expect(response.headers.get('cache-control')).toContain('no-store');
  const { min, max } = record.attributes['price.rental'] as { min: number; max: number };
  const text = await response.text();
  expect(rowOf(text, 'price.rental')![0]).toContain(`data-min="${min}" data-max="${max}"`);
  expect(text).toContain('<meta name="robots" content="noindex">');
  expect(await balance(app, headers)).toBeCloseTo(0.5 - 0.012, 6);
});

test('an opted-out record appears nowhere', async () => {
  const gone = app.records['harbours']!.find(({ slug }) => slug === 'harbour-8')!;
  const [other] = slugs('harbours').filter((slug) => slug !== 'harbour-8');
  expect(columns(await page(`/compare/harbours?ids=${other},harbour-8`))).toEqual([other, 'harbour-8']);
  await optOut(app, 'harbour-8', 'office@null.example');
  for (const path of [
    `/compare/harbours?ids=${other},harbour-8`,
    `/compare/harbours?ids=${other},${gone.id}`,
    `/compare/harbours?add=${encodeURIComponent(gone.name)}`,
    '/compare/harbours',
  ]) {
    const text = (await page(path)).replaceAll(/value="[^"]*"|“[^”]*”/g, '');
    expect(text, path).not.toContain(gone.name);
    expect(columns(text)).toEqual(path.includes('ids=') ? [other] : []);
  }
  const removed = await page(`/compare/harbours?ids=${other},harbour-8`);
  expect(notes(removed)).toEqual(['“harbour-8” is not in this dataset: the id is wrong, or the record was removed.']);
  const text = await (await app.ask(`/compare/harbours.md?ids=${other},harbour-8`)).text();
  expect(text).toContain('Missing: harbour-8');
  expect(text).not.toContain(gone.name);
});
