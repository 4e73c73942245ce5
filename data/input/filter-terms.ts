// Terms of a filter: the common form of CQL2 text and CQL2 JSON (OGC 21-065), before names and types are checked.
import { DataError } from '../model/errors.ts';
import { printable, readDecimal } from './parse-values.ts';

/** Character of the text, from 1, or pointer into the JSON. */
export type TermPosition = number | string;

/**
 * A call with its arguments. Further operators: `property` and `literal` (with `value`), `date` and `timestamp`
 * (with the text), `interval`, `list`, and geometries in lower case (with `coordinates`).
 */
export interface Term {
  /** In lower case. */
  op: string;
  args: Term[];
  value?: string | number | boolean;
  coordinates?: Coordinates;
  position: TermPosition;
  /** The term as sent. */
  source: string;
}

/** Numbers in lists, as in GeoJSON. */
export type Coordinates = number | Coordinates[];

/** Limits of one expression (contract section 9). */
export const FILTER_LIMITS = { characters: 2_000, depth: 10, terms: 50 } as const;

/** The error for a place in an expression. `advice` follows the message as a sentence. */
export function invalidFilter(
  position: TermPosition,
  sent: string,
  expected: string,
  { advice = '', nearest = [] }: { advice?: string; nearest?: readonly string[] } = {},
): DataError {
  const place = typeof position === 'number' ? `character ${position}` : position === '' ? 'its top' : position;
  const excerpt = printable(sent);
  const message = `filter: found ${excerpt === '' ? 'the end' : excerpt} at ${place}, expected ${expected}.${advice === '' ? '' : ` ${advice.trim()}`}`;
  const names = nearest.length === 0 ? {} : { nearest };
  return new DataError('invalid_filter', message, { position, found: excerpt, expected, ...names });
}

/** Geometries that the standard has; filter-expression.ts reads those that points can be compared with. */
const GEOMETRIES = 'point linestring polygon multipoint multilinestring multipolygon geometrycollection bbox'.split(
  ' ',
);

/** Operators between two values, with their precedence. */
const PRECEDENCE: Readonly<Record<string, number>> = {
  or: 1,
  and: 2,
  '=': 4,
  '<>': 4,
  '<': 4,
  '<=': 4,
  '>': 4,
  '>=': 4,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
};
const [NEGATION, COMPARISON] = [3, 4];

/** What other languages write, with the CQL2 for it. */
const FOREIGN: Readonly<Record<string, string>> = {
  '!=': 'Write <> for "not equal".',
  '==': 'Write a single = for "equal".',
  '&&': 'Write AND.',
  '||': 'Write OR.',
  '|': 'Write OR.',
  '!': 'Write NOT.',
  ilike: "Write CASEI(attribute) LIKE CASEI('pattern%').",
  contains: "Write attribute LIKE '%text%'; a list attribute equals a value that it contains.",
  '"': 'A text is written in single quotes; double quotes mark the name of an attribute.',
  '[': "A list is written in parentheses: attribute IN ('a', 'b').",
  '{': 'JSON is read with filter-lang=cql2-json.',
};

interface Token {
  kind: 'number' | 'text' | 'name' | 'quoted' | 'sign' | 'end';
  text: string;
  start: number;
  end: number;
}

const TOKEN =
  /\s*(?:(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?<text>'(?:''|\\'|[^'])*')|(?<name>[\p{L}_:][\p{L}\p{M}\p{N}_.:]*)|"(?<quoted>[^"]+)"|(?<sign><>|<=|>=|!=|==|&&|\|\||[-+*/=<>(),])|(?<end>$))/uy;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (;;) {
    const from = TOKEN.lastIndex;
    const { groups = {}, 0: whole } = TOKEN.exec(text) ?? { 0: '' };
    const [kind, tokenText] = Object.entries(groups).find(([, group]) => group !== undefined) ?? [];
    if (kind === undefined || tokenText === undefined) {
      const start = from + /^\s*/u.exec(text.slice(from))![0].length;
      const sign = [...text.slice(start)][0] ?? '';
      const expected = sign === "'" ? 'a text that ends with a single quote' : 'a name, a value or an operator';
      throw invalidFilter(start + 1, text.slice(start, start + 20), expected, { advice: FOREIGN[sign] ?? '' });
    }
    const end = from + whole.length;
    const start = kind === 'quoted' ? end - tokenText.length - 2 : end - tokenText.length;
    tokens.push({ kind: kind as Token['kind'], text: tokenText, start, end });
    if (kind === 'end') return tokens;
  }
}

/** Reads CQL2 text. Throws `invalid_filter` for anything else. */
export function readFilterText(text: string): Term {
  return new TextReader(text).read();
}

class TextReader {
  readonly #source: string;
  readonly #tokens: Token[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = tokensOf(source);
  }

  read(): Term {
    const term = this.#expression(0);
    if (this.#next.kind !== 'end') throw this.#unexpected('AND, OR or the end');
    return term;
  }

  get #next(): Token {
    return this.#tokens[this.#at]!;
  }

  /** The next token as a keyword or sign, in lower case; empty for values and quoted names. */
  get #word(): string {
    const { kind, text } = this.#next;
    return kind === 'name' || kind === 'sign' ? text.toLowerCase() : '';
  }

  #takes(word: string): boolean {
    if (this.#word !== word) return false;
    this.#at += 1;
    return true;
  }

  #require(word: string): void {
    if (!this.#takes(word)) throw this.#unexpected(word.toUpperCase());
  }

  #unexpected(expected: string): DataError {
    const { start, end, kind, text } = this.#next;
    const advice = FOREIGN[this.#word] ?? (kind === 'quoted' && expected !== 'a value' ? FOREIGN['"'] : '') ?? '';
    const list = /^(?:or|and)$/iu.test(text) ? "Several values are a list: attribute IN ('a', 'b')." : '';
    return invalidFilter(start + 1, this.#source.slice(start, end), expected, { advice: advice || list });
  }

  #term(start: number, op: string, args: Term[], members: Partial<Term> = {}): Term {
    const end = this.#tokens[this.#at - 1]!.end;
    return { op, args, position: start + 1, source: this.#source.slice(start, end), ...members };
  }

  #nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > FILTER_LIMITS.depth) throw this.#unexpected(`at most ${FILTER_LIMITS.depth} levels`);
    const result = read();
    this.#depth -= 1;
    return result;
  }

  /** Operands and operators of at least a precedence. */
  #expression(least: number): Term {
    const { start } = this.#next;
    let left = this.#operand();
    for (;;) {
      const op = this.#word;
      const precedence = PRECEDENCE[op];
      if (precedence === undefined || precedence < least) {
        const test = least <= COMPARISON ? this.#test(left, start) : null;
        if (test === null) return left;
        left = test;
        continue;
      }
      if (precedence === COMPARISON && PRECEDENCE[left.op] === COMPARISON)
        throw invalidFilter(this.#next.start + 1, op, 'AND, OR or the end', {
          advice: 'For two bounds write attribute BETWEEN 1 AND 5.',
        });
      this.#at += 1;
      const right = this.#expression(precedence + 1);
      const joined = left.op === op && (op === 'and' || op === 'or');
      left = this.#term(start, op, joined ? [...left.args, right] : [left, right]);
    }
  }

  /** The tests that follow a value: IS NULL, LIKE, BETWEEN, IN; null without one. */
  #test(left: Term, start: number): Term | null {
    if (this.#takes('is')) {
      const negated = this.#takes('not');
      this.#require('null');
      return this.#negated(start, 'isnull', [left], negated);
    }
    const before = this.#at;
    const negated = this.#takes('not');
    if (this.#takes('like')) return this.#negated(start, 'like', [left, this.#expression(COMPARISON + 1)], negated);
    if (this.#takes('between')) {
      const low = this.#expression(COMPARISON + 1);
      this.#require('and');
      return this.#negated(start, 'between', [left, low, this.#expression(COMPARISON + 1)], negated);
    }
    if (this.#takes('in')) {
      const from = this.#next.start;
      const values = this.#list(() => this.#expression(COMPARISON + 1));
      return this.#negated(start, 'in', [left, this.#term(from, 'list', values)], negated);
    }
    if (negated) throw this.#unexpected('LIKE, BETWEEN or IN');
    this.#at = before;
    return null;
  }

  #negated(start: number, op: string, args: Term[], negated: boolean): Term {
    const term = this.#term(start, op, args);
    return negated ? { ...term, op: 'not', args: [term] } : term;
  }

  /** A list in parentheses. */
  #list<T>(read: () => T): T[] {
    this.#require('(');
    const items = [read()];
    while (this.#takes(',')) items.push(read());
    this.#require(')');
    return items;
  }

  #operand(): Term {
    const { kind, text, start } = this.#next;
    const word = this.#word;
    if (this.#takes('not')) {
      const arg = this.#nested(() => this.#expression(NEGATION));
      return this.#term(start, 'not', [arg]);
    }
    if (this.#takes('-') || this.#takes('+')) {
      const negative = word === '-';
      const arg = this.#nested(() => this.#operand());
      if (typeof arg.value === 'number')
        return this.#term(start, 'literal', [], { value: negative ? -arg.value : arg.value });
      const zero = this.#term(start, 'literal', [], { value: 0 });
      return this.#term(start, word, [zero, arg]);
    }
    if (this.#takes('(')) {
      const inner = this.#nested(() => this.#expression(0));
      if (this.#word === ',') throw this.#unexpected(')');
      this.#require(')');
      return { ...inner, position: start + 1, source: this.#source.slice(start, this.#tokens[this.#at - 1]!.end) };
    }
    if (kind === 'number' || kind === 'text') {
      this.#at += 1;
      const value = kind === 'number' ? readDecimal(text) : text.slice(1, -1).replace(/''|\\'/gu, "'");
      if (Number.isNaN(value)) throw invalidFilter(start + 1, text, 'a finite number');
      return this.#term(start, 'literal', [], { value });
    }
    if (kind === 'quoted') {
      this.#at += 1;
      return this.#term(start, 'property', [], { value: text });
    }
    const isValue = kind === 'name' && !/^(?:and|or|in|is|like|between|null)$/u.test(word);
    if (!isValue) throw this.#unexpected('a value');
    this.#at += 1;
    if (this.#word === '(') return this.#call(word, start);
    if (word === 'true' || word === 'false') return this.#term(start, 'literal', [], { value: word === 'true' });
    if (GEOMETRIES.includes(word)) throw this.#unexpected('coordinates in parentheses');
    return this.#term(start, 'property', [], { value: text });
  }

  #call(op: string, start: number): Term {
    if (GEOMETRIES.includes(op)) {
      const coordinates = this.#nested(() => this.#coordinates());
      return this.#term(start, op, [], { coordinates });
    }
    const args = this.#nested(() => this.#list(() => this.#expression(0)));
    return this.#term(start, op, args);
  }

  /** Lists in parentheses; the innermost have positions: numbers with spaces between them. */
  #coordinates(): Coordinates {
    return this.#list((): Coordinates => {
      if (this.#word === '(') return this.#nested(() => this.#coordinates());
      const numbers: number[] = [];
      for (;;) {
        const negative = this.#takes('-');
        if (this.#next.kind !== 'number') break;
        numbers.push(readDecimal(`${negative ? '-' : ''}${this.#next.text}`));
        this.#at += 1;
      }
      if (numbers.length === 0) throw this.#unexpected('a number of degrees');
      return numbers;
    });
  }
}

/** Reads CQL2 JSON. Throws `invalid_filter` for anything else. */
export function readFilterJson(text: string): Term {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    const advice = 'An expression in text needs no filter-lang.';
    throw invalidFilter('', text.slice(0, 40), 'JSON, such as {"op": "=", "args": [{"property": "…"}, "…"]}', {
      advice,
    });
  }
  return termOfJson(json, '', 0);
}

function termOfJson(json: unknown, position: string, depth: number): Term {
  const source = JSON.stringify(json);
  if (depth > FILTER_LIMITS.depth + 2) throw invalidFilter(position, source, `at most ${FILTER_LIMITS.depth} levels`);
  const list = (items: readonly unknown[], below = '') =>
    items.map((item, index) => termOfJson(item, `${position}${below}/${index}`, depth + 1));
  const term = (op: string, args: Term[], members: Partial<Term> = {}): Term => ({
    op,
    args,
    position,
    source,
    ...members,
  });
  if (typeof json === 'string' || typeof json === 'number' || typeof json === 'boolean')
    return term('literal', [], { value: json });
  if (Array.isArray(json)) return term('list', list(json));
  if (typeof json !== 'object' || json === null) throw invalidFilter(position, source, 'a value or {"op": …}');
  const { op, args, property, date, timestamp, interval, bbox, type, coordinates } = json as Record<string, unknown>;
  if (typeof op === 'string') {
    if (!Array.isArray(args)) throw invalidFilter(position, source, `a list "args" with "op": "${printable(op)}"`);
    return term(op.toLowerCase(), list(args, '/args'));
  }
  if (typeof property === 'string') return term('property', [], { value: property });
  for (const [name, time] of Object.entries({ date, timestamp }))
    if (typeof time === 'string') return term(name, [term('literal', [], { value: time })]);
  if (Array.isArray(interval)) return term('interval', list(interval, '/interval'));
  if (Array.isArray(bbox)) return term('bbox', [], { coordinates: bbox.map((edge) => [edge]) as Coordinates });
  if (typeof type === 'string') {
    const nested = type === 'Point' ? [coordinates] : coordinates;
    return term(type.toLowerCase(), [], { coordinates: nested as Coordinates });
  }
  throw invalidFilter(position, source, '{"op": …, "args": […]}', { advice: jsonAdvice(json) });
}

/** The right form of `{or: […]}` and of `{attribute: value}`. */
function jsonAdvice(json: object): string {
  const [[name = '', value] = []] = Object.entries(json);
  const op = name.replace(/^\$/u, '').toLowerCase();
  if (op === 'and' || op === 'or' || op === 'not')
    return `Write {"op": "${op}", "args": [${op === 'not' ? '…' : '…, …'}]}.`;
  if (name === '') return '';
  const example = typeof value === 'object' ? '"…"' : JSON.stringify(value);
  return `Write {"op": "=", "args": [{"property": "${printable(name)}"}, ${printable(example ?? '"…"')}]}.`;
}
