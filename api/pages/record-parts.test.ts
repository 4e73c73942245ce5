// Citations, maps and charts of a record page, with hostile and extreme values.
import { describe, expect, test } from 'vitest';
import type { PublicRecord } from '../../data/model/record.ts';
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { pointMap } from './point-map.ts';
import { bibtex, cslJson, historySection } from './record-html.ts';

const pack = {
  id: 'tools',
  title: 'Tools & saws',
  attribution: '50 % of $1 by a_b',
  serving: { distinguish_by: ['maker'] },
} as unknown as Pack;
const record = (name: string): PublicRecord =>
  ({
    name,
    slug: 'x-1',
    url: 'https://register.example/datasets/tools/x-1',
    updated_at: '2026-11-20T00:00:00Z',
    attributes: { maker: 'Old & Sons' },
    provenance: { maker: { observed_at: '2026-11-10T12:00:00Z' } },
  }) as unknown as PublicRecord;

describe('a citation', () => {
  test.each([
    ['Saw', 'Saw (Old \\& Sons)'],
    ['}\\input{/etc/passwd}', '\\}\\textbackslash{}input\\{/etc/passwd\\} (Old \\& Sons)'],
    ['100% #1_$ ~^', '100\\% \\#1\\_\\$ \\textasciitilde{}\\textasciicircum{} (Old \\& Sons)'],
  ])('of %s in BibTeX', (name, title) => {
    const text = bibtex(record(name), pack);
    expect(text).toContain(`  title = {${title}},\n`);
    expect(text).toContain('  year = {2026},\n');
    expect(text).toContain('Checked 2026-11-10. 50 \\% of \\$1 by a\\_b}');
    expect(text).toMatch(/^@misc\{tools-x-1,\n/);
  });

  test('in CSL-JSON', () => {
    expect(JSON.parse(cslJson(record('"},{"'), pack))).toEqual([
      {
        id: 'tools-x-1',
        type: 'dataset',
        title: '"},{" (Old & Sons)',
        'container-title': 'Tools & saws',
        publisher: 'Dataset Register',
        issued: { 'date-parts': [[2026, 11, 10]] },
        URL: 'https://register.example/datasets/tools/x-1',
        note: '50 % of $1 by a_b',
      },
    ]);
  });
});

describe('a map', () => {
  test.each([
    ['in Europe', { lat: 48.2, lng: 16.37 }, true],
    ['at the antimeridian', { lat: -17.7, lng: 178 }, true],
    ['on the other side of it', { lat: -17, lng: -179.9 }, true],
    ['in the Pacific', { lat: 0, lng: -150 }, false],
  ])('%s', (_, point, land) => {
    const text = String(pointMap('Saw', point));
    const [, path = ''] = /class="land" d="([^"]*)"/.exec(text) ?? [];
    expect(path !== '').toBe(land);
    // Nothing is outside the drawing.
    for (const ring of path.split('Z'))
      [...ring.matchAll(/[Ml](-?\d+) (-?\d+)/g)].reduce(
        ([x, y], [, dx, dy]) => {
          expect(Math.abs(x + Number(dx))).toBeLessThanOrEqual(320);
          expect(Math.abs(y + Number(dy))).toBeLessThanOrEqual(180);
          return [x + Number(dx), y + Number(dy)] as const;
        },
        [0, 0] as readonly [number, number],
      );
    expect(text.length).toBeLessThan(8_000);
  });

  test('of a pole is left out', () => expect(String(pointMap('Pole', { lat: 89, lng: 0 }))).toBe(''));
});

describe('a chart', () => {
  const attributes = [{ name: 'mass', type: 'number', unit: 'kg' }] as unknown as Attribute[];
  const drawn = (values: readonly (Value | null)[], source_url = 'https://a.example/') => {
    const steps = values.map((value, i) => ({ at: `2026-0${i + 1}-01T00:00:00Z`, value, source_url }));
    const related = { similar: [], same: [], sources: {}, history: { mass: steps } };
    const record = {
      slug: 'r',
      provenance: { mass: { observed_at: '2026-09-01T00:00:00Z' } },
    } as unknown as PublicRecord;
    const base_url = 'https://register.example';
    return String(historySection({ record, pack: { ...pack, attributes }, base_url, related }));
  };

  test('links every step of every range to its source', () => {
    const text = drawn([1, 5, 2]);
    const links = (range: string) =>
      new RegExp(`range-${range}">.*?</svg>`, 's').exec(text)?.[0].match(/<a href="https:\/\/a\.example\/"/g)?.length;
    expect([links('all'), links('year'), links('month')]).toEqual([3, 3, 1]);
    expect(text).toContain('<strong>2 kg</strong>');
    expect(text).toContain('2 changes since Jan 1, 2026');
  });

  test.each([
    ['never changed', [3, 3], /<li>Mass 3 kg, unchanged since/],
    ['was withdrawn', [3, null], /<strong>withdrawn<\/strong>/],
    ['came back', [3, null, 4], /<strong>4 kg<\/strong>/],
  ] as const)('of a value that %s', (_, values, expected) => {
    const text = drawn(values);
    expect(text).toMatch(expected);
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  });

  test('of ranges has a band between both ends, and counts both', () => {
    const text = drawn([{ min: 0.66, max: 1.32, currency: 'USD' }, 1.32]);
    expect(text).toContain('class="band"');
    expect(text).toContain('2 values from 0.66 kg to 1.32 kg');
    expect(text).toContain('<title>0.66 to 1.32 kg since Jan 1, 2026. Open the source</title>');
    expect(drawn([1, 2])).not.toContain('class="band"');
  });

  test('has round numbers on its axis, and its values as CSV', () => {
    const text = drawn([1.2, 8.7, 9]);
    const axis = /range-all">.*?<svg class="bounds"(.*?)<\/svg>/s.exec(text)?.[1] ?? '';
    expect([...axis.matchAll(/>([\d.]+)<\/text>/g)].map(([, tick]) => tick)).toEqual(['0', '5', '10']);
    const [, csv = ''] = /href="data:text\/csv;charset=utf-8,([^"]+)"/.exec(text) ?? [];
    expect(decodeURIComponent(csv).split('\r\n').slice(0, 2)).toEqual([
      'record,since,mass min (kg),max,source',
      ',2026-01-01T00:00:00Z,1.2,1.2,https://a.example/',
    ]);
  });

  test('has no link to an address that is no web page', () => {
    expect(drawn([1, 2], 'javascript:alert(1)')).not.toContain('javascript:');
  });
});
