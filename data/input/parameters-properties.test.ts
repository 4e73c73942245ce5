// Every parser of a question, over any input: an input or a DataError that is fit to be shown, whatever the
// order.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { comparedNumber } from '../../packs/define/digits.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';
import { draws } from '../../tests/support/draws.ts';
import { DataError, type ValidationIssue } from '../model/errors.ts';
import type { RawInput } from '../plan/plan.ts';
import { compareParameters, similarParameters, statsParameters, timeseriesParameters } from './analysis-parameters.ts';
import { filterGrammar } from './filters.ts';
import {
  batchParameters,
  changelogParameters,
  changesParameters,
  factsParameters,
  getParameters,
} from './history-parameters.ts';
import type { ParameterSet, ParseOptions } from './parameters.ts';
import { escapeListValue } from './parse-values.ts';
import { facetsParameters, searchParameters } from './search-parameters.ts';

/** All of them, called as the operations do. */
const PARSERS = {
  searchParameters,
  facetsParameters,
  getParameters,
  batchParameters,
  similarParameters,
  statsParameters,
  timeseriesParameters,
  compareParameters,
  factsParameters,
  changelogParameters,
  changesParameters,
} satisfies Record<string, ParameterSet<unknown>>;

const packs: Record<string, Pack> = {};
for (const id of ['tools', 'harbours']) packs[id] = await loadPack(`tests/packs/${id}`);

const PARAMETERS =
  'q near bbox ids updated_since min_quality sort cursor limit fields total format by attribute group_by differ_by days step since as_of offset entity type'.split(
    ' ',
  );

/** Texts that mean something to one of the parsers, right or nearly right. */
const telling = fc.constantFrom(
  ...[
    '1',
    '0',
    '-1',
    '100',
    '101',
    '1001',
    '1e3',
    '0.5',
    ' 7 ',
    '99999999999999999999',
    'NaN',
    '',
    ' ',
    ',',
    '\\',
    '\\,',
    'a\\',
  ],
  ...[
    'true',
    'FALSE',
    'yes',
    'json',
    'md',
    'csv',
    'ndjson',
    'arrow',
    'xml',
    'day',
    'week',
    'month',
    'all',
    'added',
    'changed',
  ],
  ...[
    'name',
    'mass',
    'price',
    'price.list',
    'price.',
    'kind',
    'materials',
    'workshop',
    'runtime',
    'depth',
    '-mass',
    '-',
    '--quality',
    'quality',
    'updated',
  ],
  ...[
    '2026-11-20',
    '2026-11-20T00:00:00Z',
    '2026-11-19T23:59:59.999999+05:45',
    '2026-02-30',
    '9999-12-31T23:59:59Z',
    '0000-01-01',
    '-271821-04-20T00:00:00Z',
  ],
  ...[
    '0,0,1',
    '91,0,1',
    '90,180,20020',
    '0,0',
    'a,b,c',
    '0,0,-1',
    '0,0,1e9',
    'kind,maker',
    'kind,kind',
    'record-1,record-2',
    'r-0000000000000000',
  ],
  ...[
    '\0',
    '\ud800',
    '\u202e',
    '__proto__',
    'constructor',
    'toString',
    'x'.repeat(501),
    'x '.repeat(40),
    'é'.normalize('NFD'),
    '東京',
    'a,'.repeat(101),
  ],
);
const text = fc.oneof(
  { weight: 3, arbitrary: telling },
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
);
const value = fc.oneof({ weight: 4, arbitrary: text }, fc.array(text, { maxLength: 3 }));

/** What a parser cannot do without. */
function required(parser: string, { attributes }: Pack): RawInput {
  if (parser === 'facetsParameters')
    return { by: attributes.find(({ type, filterable }) => filterable && type === 'enum')!.name };
  if (/^(?:batch|compare)/.test(parser)) return { ids: 'record-1,r-0000000000000000' };
  if (/^(?:stats|timeseries)/.test(parser))
    return { attribute: attributes.find(({ type }) => type === 'number')!.name };
  return parser === 'changesParameters' ? { since: '2026-11-01' } : {};
}

/**
 * Input for a pack: its own filters and the parameters of all operations, some misspelt; what is required is
 * mostly there.
 */
function inputFor(id: string, parser: string): fc.Arbitrary<RawInput> {
  const filters = fc.nat().map((n) => {
    const grammar = filterGrammar(packs[id]!, null);
    return grammar[n % grammar.length]!.name;
  });
  const name = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...PARAMETERS) },
    { weight: 4, arbitrary: filters },
    {
      weight: 1,
      arbitrary: fc.oneof(
        fc.string(),
        fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty', 'min_', 'not_', 'has_nothing'),
      ),
    },
  );
  const pairs = fc.uniqueArray(fc.tuple(name, value), { maxLength: 4, selector: ([key]) => key });
  return fc.tuple(pairs, fc.nat(3)).map(([pairs, n]) => {
    const raw: RawInput = Object.assign(Object.create(null), n === 0 ? {} : required(parser, packs[id]!));
    for (const [key, each] of pairs) raw[key] = each;
    return raw;
  });
}

/**
 * What a parser makes of an input: the input, or code and message. Anything else that is thrown is a mistake.
 */
function outcome(
  parse: (raw: RawInput, pack: Pack, options: ParseOptions) => unknown,
  raw: RawInput,
  pack: Pack,
): unknown {
  try {
    return parse(raw, pack, { now: new Date('2026-11-20T00:00:00Z') });
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    return error;
  }
}

const runs = { seed: 20261120, numRuns: draws(600) };

describe.each(['tools', 'harbours'])('%s', (id) => {
  test.each(Object.entries(PARSERS))('%s answers an input or a refusal that can be shown', (name, { parse }) => {
    let parsed = 0;
    fc.assert(
      fc.property(inputFor(id, name), (raw) => {
        const found = outcome(parse, raw, packs[id]!);
        if (!(found instanceof DataError)) {
          parsed += 1;
          // Plain data, so that it can be asked of another thread, hashed or logged.
          expect(structuredClone(found)).toEqual(found);
          return;
        }
        expect([
          'validation_failed',
          'invalid_parameter',
          'unknown_filter',
          'invalid_cursor',
          'too_many_ids',
        ]).toContain(found.code);
        expect(found.message).not.toMatch(/\p{Cc}|\[object/u);
        expect(found.message.isWellFormed() && found.message.length < 1000, found.message).toBe(true);
        if (found.code !== 'validation_failed') return;
        const issues = found.detail as ValidationIssue[];
        expect(issues.length).toBeGreaterThan(0);
        for (const { loc, msg, type } of issues) {
          expect(loc[0]).toBe('query');
          expect([msg, type].every((each) => each.length > 2)).toBe(true);
        }
        expect(JSON.stringify(issues).length).toBeLessThan(5000);
      }),
      runs,
    );
    expect(parsed).toBeGreaterThan(runs.numRuns / 10);
  });

  test.each(Object.entries(PARSERS))('%s does not mind the order of parameters', (name, { parse }) => {
    fc.assert(
      fc.property(inputFor(id, name), (raw) => {
        const turned: RawInput = Object.create(null);
        for (const key of Object.keys(raw).reverse()) turned[key] = raw[key]!;
        const [one, other] = [outcome(parse, raw, packs[id]!), outcome(parse, turned, packs[id]!)];
        if (one instanceof DataError) expect((other as DataError).code).toBe(one.code);
        else {
          const unordered = { names: [], conditions: [] };
          expect({ ...(other as object), ...unordered }).toEqual({ ...(one as object), ...unordered });
        }
      }),
      { ...runs, numRuns: draws(400) },
    );
  });
});

test('the values of a filter are those that were escaped into it, folded, each once', () => {
  const one = fc.string({
    unit: fc.constantFrom('a', 'B', ',', '\\', ' ', 'É', 'ß', '東', '"', "'", '%', '_'),
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 6 }), fc.boolean(), (values, repeated) => {
      const kept = values.map((each) => each.trim()).filter((each) => each !== '');
      fc.pre(kept.length > 0);
      const escaped = values.map(escapeListValue);
      const { where } = searchParameters.parse({ maker: repeated ? escaped : escaped.join(',') }, packs['tools']!);
      expect(where).toHaveLength(1);
      const { values: found } = where[0] as { values: string[] };
      expect([...found].sort()).toEqual([...new Set(kept.map(fold))].sort());
    }),
    runs,
  );
});

test('numbers, booleans and times come back as what was written', () => {
  const at = fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: 1, max: 100 }),
      fc.boolean(),
      at,
      (mass, limit, total, since) => {
        const raw = {
          min_mass: String(mass),
          limit: String(limit),
          total: String(total),
          updated_since: since.toISOString(),
        };
        const found = searchParameters.parse(raw, packs['tools']!);
        expect([found.limit, found.total]).toEqual([limit, total]);
        expect(found.where).toEqual(
          expect.arrayContaining([
            { kind: 'min', attribute: 'mass', value: comparedNumber(mass) },
            { kind: 'updated_since', at: since.getTime() },
          ]),
        );
      },
    ),
    runs,
  );
});
