// Independent evaluation of `filter`: CQL2 JSON on records by plain recursion, without the tree of the service.
import type { StoredRecord } from '../../data/model/record.ts';
import type { Geo, Pack, PriceRange, Value } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';

export type FilterJson = string | number | boolean | FilterJson[] | { [name: string]: FilterJson };

/** Expressions by what is sent: CQL2 text, or their JSON. */
export const filterJsonBySource = new Map<string, FilterJson>();

/** Whether a record matches a filter; unknown is no match. */
export const holdsFilter = (pack: Pack, record: StoredRecord, source: string): boolean =>
  truth(pack, record, filterJsonBySource.get(source) ?? (JSON.parse(source) as FilterJson)) === true;

type Node = { op: string; args: FilterJson[] };
type Truth = boolean | undefined;

function truth(pack: Pack, record: StoredRecord, json: FilterJson): Truth {
  if (typeof json === 'boolean') return json;
  const { op, args } = json as Node;
  const [a, b, c] = args as [FilterJson, FilterJson, FilterJson];
  const inner = (arg: FilterJson) => truth(pack, record, arg);
  const call = (name: string, ...more: FilterJson[]) => inner({ op: name, args: more });
  switch (op) {
    case 'and':
    case 'or': {
      const parts = args.map(inner);
      const decisive = op === 'or';
      if (parts.includes(decisive)) return decisive;
      return parts.includes(undefined) ? undefined : !decisive;
    }
    case 'not':
      return opposite(inner(a));
    case 'isNull':
      return attributeValue(record, a) === undefined;
    case 'between':
      return call('and', { op: '>=', args: [a, b] }, { op: '<=', args: [a, c] });
    case 'in':
      return call(
        'or',
        ...[...(b as FilterJson[]), false].map((item) => (item === false ? item : { op: '=', args: [a, item] })),
      );
    case '<>':
      return opposite(call('=', a, b));
    case '>':
      return call('<', b, a);
    case '>=':
      return call('<=', b, a);
    case 'like':
      return some(texts(pack, record, a), (text) => patternOf(texts(pack, record, b)![0]!).test(text));
    case 't_before':
      return call('<', a, b);
    case 't_after':
      return call('>', a, b);
    case 't_during':
    case 't_intersects': {
      const [start, end] = (b as { interval: FilterJson[] }).interval.map((edge) =>
        edge === '..' ? '..' : { date: edge },
      );
      const equal = op === 't_during' ? '' : '=';
      return call(
        'and',
        start === '..' ? true : { op: `>${equal}`, args: [a, start!] },
        end === '..' ? true : { op: `<${equal}`, args: [a, end!] },
      );
    }
    case 's_disjoint':
      return opposite(call('s_intersects', a, b));
    case 's_intersects':
    case 's_within': {
      const point = attributeValue(record, a) as Geo | undefined;
      return point && insideArea(point, b as Area, op === 's_intersects');
    }
    default:
      return compared(pack, record, op, a, b);
  }
}

const opposite = (value: Truth): Truth => (value === undefined ? undefined : !value);

const attributeValue = (record: StoredRecord, json: FilterJson): Value | undefined => {
  const { property } = json as { property: string };
  return record.attributes[property] ?? record.attributes[property.replace(/\.(min|max)$/, '')];
};

const some = (list: string[] | undefined, passes: (text: string) => boolean): Truth => list?.some(passes);

function compared(pack: Pack, record: StoredRecord, op: string, a: FilterJson, b: FilterJson): Truth {
  if (isBoolean(pack, a) && typeof b === 'number') return compared(pack, record, op, a, b === 1);
  if (isBoolean(pack, b) && typeof a === 'number') return compared(pack, record, op, a === 1, b);
  if (isNumber(pack, a) || isNumber(pack, b)) {
    const at = (operator: string, end: End): Truth => {
      const [x, y] = [a, b].map((side) => numberAt(pack, record, side, end)) as [number, number];
      if (!Number.isFinite(x) || !Number.isFinite(y)) return undefined;
      if (operator === '=') return x === y;
      if (operator === '>=') return x >= y;
      return operator === '<' ? x < y : x <= y;
    };
    // Two attributes: both ends agree. One attribute and constants: some value of the range does.
    if (attributeUses(a) + attributeUses(b) > 1) return at(op, 'min') === at(op, 'max') ? at(op, 'min') : undefined;
    if (at(op, 'min') === undefined || at(op, 'max') === undefined) return undefined;
    const some = (operator: string) => at(operator, 'min') === true || at(operator, 'max') === true;
    return op === '=' ? some('<=') && some('>=') : some(op);
  }
  const [left, right] = [texts(pack, record, a), texts(pack, record, b)];
  if (right === undefined) return undefined;
  return some(left, (text) =>
    right.some((other) => {
      const order = byCodePoint(text, other);
      return op === '=' ? order === 0 : op === '<' ? order < 0 : order <= 0;
    }),
  );
}

type End = 'min' | 'max';

/** The attribute of a property, and the end of its range that the property names. */
function attributeOf(pack: Pack, json: FilterJson): { attribute: Pack['attributes'][number]; end?: End } | undefined {
  if (typeof json !== 'object' || !('property' in json)) return undefined;
  const name = String(json['property']);
  const whole = pack.attributes.find((attribute) => attribute.name === name);
  if (whole) return { attribute: whole };
  return { attribute: pack.attributes.find((part) => part.name === name.slice(0, -4))!, end: name.slice(-3) as End };
}

const isBoolean = (pack: Pack, json: FilterJson) => attributeOf(pack, json)?.attribute.type === 'boolean';

function isNumber(pack: Pack, json: FilterJson): boolean {
  if (typeof json === 'number') return true;
  const property = attributeOf(pack, json);
  if (property) return ['integer', 'number', 'price'].includes(property.attribute.type);
  return typeof json === 'object' && 'op' in json && '+-*/'.includes(String(json['op']));
}

const attributeUses = (json: FilterJson): number =>
  typeof json === 'number'
    ? 0
    : 'op' in (json as Node)
      ? (json as Node).args.reduce<number>((sum, arg) => sum + attributeUses(arg), 0)
      : 1;

/** A number with every range at one of its ends; NaN: unknown. */
function numberAt(pack: Pack, record: StoredRecord, json: FilterJson, end: End): number {
  if (typeof json === 'number') return json;
  const property = attributeOf(pack, json);
  if (property) {
    const value = record.attributes[property.attribute.name] as number | PriceRange | undefined;
    return typeof value === 'object' ? value[property.end ?? end] : (value ?? Number.NaN);
  }
  const { op, args } = json as Node;
  const [x, y] = args.map((arg) => numberAt(pack, record, arg, end)) as [number, number];
  return op === '+' ? x + y : op === '-' ? x - y : op === '*' ? x * y : x / y;
}

/** Texts of a side; booleans and days are texts too. */
function texts(pack: Pack, record: StoredRecord, json: FilterJson): string[] | undefined {
  if (typeof json !== 'object') return [String(json)];
  if ('date' in json) return [String(json['date'])];
  if ('property' in json) {
    const value = attributeValue(record, json);
    return value === undefined ? undefined : [value].flat().map(String);
  }
  const { op, args } = json as Node;
  const inner = texts(pack, record, args[0]!);
  if (op === 'casei') return inner?.map((text) => [...text].map((c) => (c === 'İ' ? 'i' : c.toLowerCase())).join(''));
  return inner?.map((text) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').normalize('NFC'));
}

function patternOf(pattern: string): RegExp {
  const source = pattern.replaceAll(/\\?./gsu, (part) => {
    if (part === '%') return '.*';
    if (part === '_') return '.';
    return RegExp.escape(part.replace(/^\\(?=.)/su, ''));
  });
  return new RegExp(`^${source}$`, 'su');
}

type Area = { type: string; coordinates: number[] | number[][][] } | { bbox: number[] };

function insideArea({ lat, lng }: Geo, area: Area, edges: boolean): boolean {
  if ('bbox' in area) {
    const [west = 0, south = 0, east = 0, north = 0] = area.bbox;
    const onEdge = lat === south || lat === north;
    if (lat < south || lat > north || (onEdge && !edges)) return false;
    if (!edges) return west <= east ? lng > west && lng < east : lng > west || lng < east;
    const last = east < west ? east + 360 : east;
    return [-360, 0, 360].some((turn) => lng + turn >= west && lng + turn <= last);
  }
  if (area.type === 'Point') return lng === area.coordinates[0] && lat === area.coordinates[1];
  let crossings = 0;
  for (const ring of area.coordinates as number[][][])
    for (const [i, [x1 = 0, y1 = 0]] of ring.entries()) {
      const [x2 = 0, y2 = 0] = ring[(i + 1) % ring.length]!;
      const [dx, dy] = [x2 - x1, y2 - y1];
      const along = Math.abs(dx) > Math.abs(dy) ? (lng - x1) / dx : dy === 0 ? 0 : (lat - y1) / dy;
      const between = along >= 0 && along <= 1;
      if (between && (lng - x1) * dy === (lat - y1) * dx && (dx !== 0 || lng === x1) && (dy !== 0 || lat === y1))
        return edges;
      if (y1 > lat !== y2 > lat && lng < x1 + (dx * (lat - y1)) / dy) crossings += 1;
    }
  return crossings % 2 === 1;
}
