// Random expressions of CQL2 on records of any pack, as JSON and as text.
import type { StoredRecord } from '../../data/model/record.ts';
import type { Attribute, Geo, Pack, PriceRange, Value } from '../../packs/define/model.ts';
import { type FilterJson, filterJsonBySource } from './evaluate-filter.ts';
import { pickOne, type Random, tricky } from './random-records.ts';

type Call = { op: string; args: FilterJson[] };
const call = (op: string, ...args: FilterJson[]): Call => ({ op, args });

/** `filter`, and often `filter-lang`, of a random expression. */
export function randomFilter(next: Random, pack: Pack, records: StoredRecord[]): Record<string, string> {
  for (;;) {
    const json = condition(next, pack, records, 0);
    const both = pickOne(next, ['cql2-text', 'cql2-json'] as const);
    // A quote after a backslash is a part of a text of CQL2, so that no text in quotes ends with a backslash.
    const language = /\\\\(?:'|")/.test(JSON.stringify(json)) ? 'cql2-json' : both;
    const filter = language === 'cql2-text' ? print(next, json) : JSON.stringify(json);
    if (filter.length > 2000) continue;
    filterJsonBySource.set(filter, json);
    return { filter, ...(next() < 0.5 ? { 'filter-lang': language } : {}) };
  }
}

function condition(next: Random, pack: Pack, records: StoredRecord[], depth: number): FilterJson {
  const inner = () => condition(next, pack, records, depth + 1);
  if (depth < 3 && next() < 0.45)
    return next() < 0.3
      ? call('not', inner())
      : call(pickOne(next, ['and', 'or']), inner(), inner(), ...(next() < 0.3 ? [inner()] : []));
  if (next() < 0.02) return next() < 0.5;
  const attribute = pickOne(
    next,
    pack.attributes.filter(({ filterable }) => filterable),
  );
  if (next() < 0.12) return call('isNull', { property: attribute.name });
  return predicate(next, pack, records, attribute);
}

function predicate(next: Random, pack: Pack, records: StoredRecord[], attribute: Attribute): FilterJson {
  const property = { property: attribute.name };
  const value = sample(next, records, attribute);
  const comparison = pickOne(next, ['=', '<>', '<', '<=', '>', '>=']);
  switch (attribute.type) {
    case 'geo':
      return call(pickOne(next, ['s_intersects', 's_within', 's_disjoint']), property, area(next, records, attribute));
    case 'boolean':
      return call(pickOne(next, ['=', '<>']), property, pickOne(next, [true, false, 1, 0, property]));
    case 'date':
      return times(next, pack, property, comparison, () => String(sample(next, records, attribute)));
    case 'integer':
    case 'number':
    case 'price': {
      const number = () => {
        const of = sample(next, records, attribute);
        return next() < 0.1
          ? 0
          : typeof of === 'object'
            ? (of as PriceRange)[pickOne(next, ['min', 'max'] as const)]
            : (of as number);
      };
      if (attribute.type === 'price' && next() < 0.3) property.property += pickOne(next, ['.min', '.max']);
      if (next() < 0.15) return call('between', property, number(), number());
      if (next() < 0.15) return call('in', property, [number(), number(), number()]);
      const sides = [
        next() < 0.6 ? property : arithmetic(next, pack, number, 0),
        next() < 0.5 ? number() : arithmetic(next, pack, number, 0),
      ];
      return call(comparison, ...(next() < 0.2 ? sides.reverse() : sides));
    }
    default:
      return words(next, pack, attribute, String(pickOne(next, [value].flat() as string[])), comparison);
  }
}

function times(next: Random, pack: Pack, property: FilterJson, comparison: string, day: () => string): FilterJson {
  const kind = next();
  if (kind < 0.2) return call(pickOne(next, ['t_before', 't_after']), property, { date: day() });
  if (kind < 0.5) {
    const [start, end] = [day(), day()].sort() as [string, string];
    const interval = pickOne(next, [
      [start, end],
      ['..', end],
      [start, '..'],
    ]);
    return call(pickOne(next, ['t_during', 't_intersects']), property, { interval });
  }
  if (kind < 0.6) return call('between', property, { date: day() }, { date: day() });
  const others = pack.attributes.filter(({ type, filterable }) => type === 'date' && filterable);
  return call(comparison, property, kind < 0.75 ? { property: pickOne(next, others).name } : { date: day() });
}

function arithmetic(next: Random, pack: Pack, number: () => number, depth: number): FilterJson {
  const numeric = pack.attributes.filter(
    ({ type, filterable }) => filterable && ['integer', 'number', 'price'].includes(type),
  );
  const kind = next();
  if (depth === 2 || kind < 0.35) {
    const { name, type } = pickOne(next, numeric);
    return kind < 0.1 ? number() : { property: type === 'price' ? name + pickOne(next, ['', '.min', '.max']) : name };
  }
  const inner = () => arithmetic(next, pack, number, depth + 1);
  return call(pickOne(next, ['+', '-', '*', '/']), inner(), inner());
}

function words(next: Random, pack: Pack, { name, type }: Attribute, value: string, comparison: string): FilterJson {
  const form = pickOne(next, [[], [], ['casei'], ['accenti'], ['accenti', 'casei'], ['casei', 'accenti']]);
  const formed = (json: FilterJson) => form.reduce<FilterJson>((inner, op) => call(op, inner), json);
  const text = () => formed(next() < 0.3 ? tricky(next, 2) : next() < 0.3 ? value.toUpperCase() : value);
  const subject = formed({ property: name });
  const kind = next();
  if (kind < 0.3) return call('like', subject, formed(pattern(next, value)));
  if (kind < 0.45) return call('in', subject, [text(), text(), text()]);
  const operator = type === 'strings' ? pickOne(next, ['=', '<>']) : comparison;
  const others = pack.attributes.filter((one) => one.filterable && ['string', 'enum', 'text'].includes(one.type));
  if (kind < 0.6 && others.length > 0) {
    const other = { property: pickOne(next, others).name };
    return call(operator, ...(next() < 0.5 ? [subject, other] : [other, subject]));
  }
  return call(operator, ...(next() < 0.2 ? [text(), subject] : [subject, text()]));
}

/** A part of a text with wildcards. */
function pattern(next: Random, value: string): string {
  const letters = [...value].map((letter) => {
    if (next() < 0.15) return '_';
    return ['%', '_', '\\'].includes(letter) || next() < 0.05 ? `\\${letter}` : letter;
  });
  const cut = Math.floor(next() * letters.length);
  const kept = pickOne(next, [letters, letters.slice(cut), letters.slice(0, cut + 1)]).join('');
  return pickOne(next, [kept, `%${kept}%`, `${kept}%`, `%${kept}`, '%', `${kept}%${kept}`]);
}

function area(next: Random, records: StoredRecord[], attribute: Attribute): FilterJson {
  const place = (): [number, number] => {
    const { lat, lng } = sample(next, records, attribute) as Geo;
    return next() < 0.5 ? [lng, lat] : [Math.round(lng), Math.round(lat)];
  };
  const [a, b, c, d] = [place(), place(), place(), place()];
  const kind = next();
  if (kind < 0.2) return { type: 'Point', coordinates: a };
  if (kind < 0.6) return { bbox: [a[0], Math.min(a[1], b[1]), b[0], Math.max(a[1], b[1])] };
  const hole = [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
    [-1, -1],
  ];
  return {
    type: 'Polygon',
    coordinates: [[a, b, c, ...(next() < 0.5 ? [d] : []), a], ...(next() < 0.3 ? [hole] : [])],
  };
}

function sample(next: Random, records: StoredRecord[], { name, example }: Attribute): Value {
  return pickOne(next, records).attributes[name] ?? pickOne(next, records).attributes[name] ?? (example as Value);
}

const INFIX = new Set(['and', 'or', '=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/']);

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** CQL2 text of an expression, with parentheses around every operand that is a call. */
function print(next: Random, json: FilterJson): string {
  const word = (text: string) => (next() < 0.5 ? text.toUpperCase() : text);
  const inner = (arg: FilterJson) => print(next, arg);
  if (typeof json === 'string') return quoted(json);
  if (typeof json === 'number') return String(json);
  if (typeof json === 'boolean') return word(String(json));
  if (Array.isArray(json)) return `(${json.map(inner).join(', ')})`;
  if ('property' in json) return next() < 0.3 ? `"${String(json['property'])}"` : String(json['property']);
  if ('date' in json) return `${word('date')}(${quoted(String(json['date']))})`;
  if ('interval' in json) return `${word('interval')}(${(json['interval'] as string[]).map(quoted).join(',')})`;
  if ('bbox' in json) return `BBOX(${(json['bbox'] as number[]).join(', ')})`;
  if ('type' in json) return printShape(json as { type: string; coordinates: number[] | number[][][] });
  const { op, args } = json as Call;
  const operand = (arg: FilterJson) =>
    typeof arg === 'object' && 'op' in arg && !['casei', 'accenti'].includes(String(arg['op']))
      ? `(${inner(arg)})`
      : inner(arg);
  const [a, b, c] = args as [FilterJson, FilterJson, FilterJson];
  if (INFIX.has(op)) return args.map(operand).join(` ${word(op)} `);
  if (op === 'not') return `${word('not')} ${operand(a)}`;
  if (op === 'isNull') return `${inner(a)} ${word('is null')}`;
  if (op === 'like' || op === 'in') return `${operand(a)} ${word(op)} ${inner(b)}`;
  if (op === 'between') return `${operand(a)} ${word('between')} ${inner(b)} ${word('and')} ${inner(c)}`;
  return `${word(op)}(${args.map(inner).join(', ')})`;
}

function printShape({ type, coordinates }: { type: string; coordinates: number[] | number[][][] }): string {
  if (type === 'Point') return `POINT(${coordinates.join(' ')})`;
  const rings = (coordinates as number[][][]).map((ring) => `(${ring.map((point) => point.join(' ')).join(', ')})`);
  return `POLYGON(${rings.join(', ')})`;
}
