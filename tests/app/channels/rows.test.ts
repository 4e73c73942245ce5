// Tabular formats over the real app: CSV, NDJSON and Arrow have the content of the JSON, with a key, page by
// page.
import { tableFromIPC } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import type { PublicRecord } from '../../../data/model/record.ts';
import type { Attribute, Geo, PriceRange, Value } from '../../../packs/define/model.ts';
import { appOfAll } from '../../support/app.ts';
import { parseCsv } from '../../support/parse-csv.ts';
import { verifies } from '../../support/verifies.ts';

verifies('format.csv', 'format.ndjson', 'format.missing-absent', 'search.format', 'search.rows-need-key');
verifies('search.next-cursor-header', 'search.limit-rows', 'limit.search-page', 'format.key-required');

const app = await appOfAll({ records: 130 });

const TABULAR = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
};
const formats = Object.keys(TABULAR) as (keyof typeof TABULAR)[];
const SORT = 'sort=updated';

async function ask(query: string, dataset = 'tools'): Promise<Response> {
  const answer = await app.ask(`/v1/${dataset}/entities?${query}`, { admin: true });
  expect(answer.status, `${query}: ${answer.status === 200 ? '' : await answer.clone().text()}`).toBe(200);
  return answer;
}

/** Every record in order, from the JSON. */
async function records(dataset: string, query: string): Promise<PublicRecord[]> {
  const items: PublicRecord[] = [];
  for (let cursor = ''; ; ) {
    const page = (await (await ask(`${query}&limit=100${cursor}`, dataset)).json()) as {
      items: PublicRecord[];
      next_cursor: string | null;
    };
    items.push(...page.items);
    if (page.next_cursor === null) return items;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

const attributesOf = (dataset: string) => app.register.packs.get(dataset)?.attributes ?? [];

/** A value in its table columns. */
function cells({ type, name }: Attribute, value: Value | undefined): [string, unknown][] {
  if (type === 'geo')
    return [
      [`${name}.lat`, (value as Geo)?.lat ?? null],
      [`${name}.lng`, (value as Geo)?.lng ?? null],
    ];
  if (type !== 'price') return [[name, value ?? null]];
  const { min = value, max = value } = typeof value === 'object' ? (value as PriceRange) : {};
  return [
    [`${name}.min`, min ?? null],
    [`${name}.max`, max ?? null],
  ];
}

describe.each(['tools', 'harbours'])('%s', (dataset) => {
  test('CSV: a row for each record, in order, a missing value empty', async () => {
    const found = await records(dataset, SORT);
    const [header = [], ...rows] = parseCsv(await (await ask(`${SORT}&limit=1000&format=csv`, dataset)).text());
    expect(rows).toHaveLength(130);
    for (const [index, row] of rows.entries()) {
      const record = found[index]!;
      const at = Object.fromEntries(header.map((name, place) => [name, row[place]]));
      expect([at['id'], at['slug'], at['url'], at['updated_at']]).toEqual([
        record.id,
        record.slug,
        record.url,
        record.updated_at,
      ]);
      expect([at['license'], at['attribution']]).toEqual([record.license, record.attribution]);
      for (const attribute of attributesOf(dataset))
        for (const [name, value] of cells(attribute, record.attributes[attribute.name])) {
          const told = value === null ? '' : Array.isArray(value) ? JSON.stringify(value) : String(value);
          expect([told, `'${told}`], name).toContain(at[name]);
        }
    }
  });

  test('NDJSON: the records of the JSON, one a line', async () => {
    const text = await (await ask(`${SORT}&limit=1000&format=ndjson`, dataset)).text();
    expect(text.endsWith('\n')).toBe(true);
    const lines = text.split('\n').slice(0, -1);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(await records(dataset, SORT));
  });

  test('Arrow: typed columns, missing values null, with provenance', async () => {
    const found = await records(dataset, SORT);
    const table = tableFromIPC(
      new Uint8Array(await (await ask(`${SORT}&limit=1000&format=arrow`, dataset)).arrayBuffer()),
    );
    expect(table.numRows).toBe(130);
    const plain = (value: unknown): unknown =>
      typeof value === 'bigint'
        ? Number(value)
        : value !== null && typeof value === 'object'
          ? [...(value as string[])]
          : value;
    for (const [index, record] of found.entries()) {
      const row = table.get(index)!;
      expect([row['id'], row['quality_score'], row['verified_owner']]).toEqual([
        record.id,
        record.quality_score,
        false,
      ]);
      expect(row['updated_at']).toBe(Date.parse(record.updated_at));
      for (const attribute of attributesOf(dataset))
        for (const [name, value] of cells(attribute, record.attributes[attribute.name])) {
          const wanted = attribute.type === 'date' && value !== null ? Date.parse(String(value)) : value;
          expect(plain(row[name]), name).toEqual(wanted);
        }
      const told = row['provenance'] as Record<string, Record<string, unknown> | null>;
      for (const { name } of attributesOf(dataset)) {
        const { source, observed_at, ...rest } = record.provenance[name] ?? { source: null, observed_at: null };
        const wanted = source && {
          status: null,
          ...rest,
          observed_at: Date.parse(String(observed_at)),
          source_kind: source.kind,
        };
        expect(told[name] && { ...Object.fromEntries(Object.entries(told[name])) }, name).toEqual(wanted);
      }
    }
  });
});

test('Arrow: types, units and descriptions are in the schema, also of an empty page', async () => {
  for (const query of ['limit=5', 'q=nobodyhasthisword']) {
    const { schema, numRows } = tableFromIPC(new Uint8Array(await (await ask(`${query}&format=arrow`)).arrayBuffer()));
    expect(numRows).toBe(query === 'limit=5' ? 5 : 0);
    const type = (name: string) => String(schema.fields.find((field) => field.name === name)?.type);
    expect(
      ['mass', 'cordless', 'materials', 'tested_on', 'price.list.max', 'workshop.lng', 'runtime'].map(type),
    ).toEqual(['Float64', 'Bool', 'List<Utf8>', 'Date32<DAY>', 'Float64', 'Float64', 'Int64']);
    expect(type('updated_at')).toBe('Timestamp<MILLISECOND, UTC>');
    const mass = schema.fields.find(({ name }) => name === 'mass');
    const attribute = attributesOf('tools').find(({ name }) => name === 'mass');
    expect(Object.fromEntries(mass?.metadata ?? [])).toEqual({
      description: attribute?.description,
      unit: attribute?.unit,
    });
    expect(schema.metadata.get('release')).toBe(app.releases['tools']);
    expect([...schema.metadata.keys()]).toEqual(expect.arrayContaining(['dataset', 'license', 'attribution']));
  }
});

describe.each(formats)('%s', (format) => {
  test('pages of any size, the next cursor in X-Next-Cursor and in Link, none at the end', async () => {
    const ids: string[] = [];
    let cursor: string | null = '';
    let pages = 0;
    do {
      const answer: Response = await ask(
        `${SORT}&limit=60&format=${format}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      expect(answer.headers.get('content-type')).toBe(TABULAR[format]);
      expect(answer.headers.get('access-control-expose-headers')).toContain('X-Next-Cursor');
      const bytes = new Uint8Array(await answer.arrayBuffer());
      const text = new TextDecoder().decode(bytes);
      if (format === 'arrow') ids.push(...Array.from(tableFromIPC(bytes), (row) => String(row['id'])));
      else if (format === 'csv')
        ids.push(
          ...parseCsv(text)
            .slice(1)
            .map(([id = '']) => id),
        );
      else
        ids.push(
          ...text
            .trim()
            .split('\n')
            .map((line) => (JSON.parse(line) as PublicRecord).id),
        );
      cursor = answer.headers.get('x-next-cursor');
      if (cursor !== null) expect(answer.headers.get('link')).toMatch(new RegExp(`cursor=${cursor}>; rel="next"$`));
      else expect(answer.headers.get('link')).toBeNull();
      pages += 1;
    } while (cursor !== null);
    expect(pages).toBe(3);
    expect(ids).toEqual((await records('tools', SORT)).map(({ id }) => id));
  });

  test('fields keep their columns, also where no record fills them', async () => {
    const answer = await ask(`fields=price,mass&limit=3&format=${format}`);
    if (format === 'ndjson') {
      const [first = '{}'] = (await answer.text()).split('\n');
      const { attributes, provenance } = JSON.parse(first) as PublicRecord;
      for (const name of [...Object.keys(attributes), ...Object.keys(provenance)])
        expect(name).toMatch(/^(price\..+|mass)$/);
      return;
    }
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const names = format === 'csv' ? parseCsv(new TextDecoder().decode(bytes))[0]! : tableFromIPC(bytes).schema.names;
    const own = names.filter((name) => attributesOf('tools').some((each) => String(name).startsWith(each.name)));
    expect(own).toEqual(['mass', 'price.list.min', 'price.list.max', 'price.rental.min', 'price.rental.max']);
  });

  test('without a key: 401, and the quota of previews is unchanged', async () => {
    const address = `192.0.2.${formats.indexOf(format) + 1}`;
    for (const url of [`/v1/tools/entities?format=${format}`, `/v1/tools/entities?format=${format}&fields=runtime`]) {
      const { status, body } = await app.json(url, { address });
      expect([status, body['error']]).toEqual([401, 'key_required']);
    }
    const accepted = await app.json('/v1/tools/entities', { address, headers: { Accept: TABULAR[format] } });
    expect([accepted.status, accepted.body['error']]).toEqual([401, 'key_required']);
    expect((await app.json('/v1/tools/entities?limit=20', { address })).body['items']).toHaveLength(20);
  });

  test('Accept chooses it, and other operations do not have it', async () => {
    const [type = ''] = TABULAR[format].split(';');
    const answer = await app.ask('/v1/tools/entities?limit=1000', {
      admin: true,
      headers: { Accept: `${type}, */*;q=0.1` },
    });
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('vary')]).toEqual([
      200,
      TABULAR[format],
      format === 'arrow' ? 'Accept' : 'Accept, Accept-Encoding',
    ]);
    await answer.arrayBuffer();
    const { status } = await app.json(`/v1/tools/entities/record-1?format=${format}`, { admin: true });
    expect(status).toBe(422);
    const twin = await app.ask(`/v1/tools/entities.md?limit=1&format=${format}`, { admin: true });
    expect(twin.headers.get('content-type')).toMatch(/^text\/markdown/);
    await twin.text();
  });

  test('more than 1,000 is 422; HEAD has the headers that are known before it runs', async () => {
    expect((await app.json(`/v1/tools/entities?limit=1001&format=${format}`, { admin: true })).status).toBe(422);
    const head = await app.ask(`/v1/tools/entities?limit=2&format=${format}`, { admin: true, method: 'HEAD' });
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, TABULAR[format], '']);
    expect(head.headers.get('x-next-cursor')).toBeNull();
  });
});
