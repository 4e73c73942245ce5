// Record templates compiled to closures: LiquidJS interprets generators for every page, too slow for a night
// of 173,000.
import {
  Context,
  type Filter,
  ForTag,
  IfTag,
  type Liquid,
  Output,
  type Template,
  type Token,
  TokenKind,
  TypeGuards,
  toValueSync,
  UnlessTag,
  type Value,
} from 'liquidjs';

/** Variables of a template: `record`, `values`, `rows`. Plain data only: no drops, functions or promises. */
export type PageScope = Record<string, unknown>;
type Frame = { scope: PageScope; locals: unknown[] };
type Get = (frame: Frame) => unknown;
type Print = (frame: Frame) => string;
/** Names bound by enclosing loops, innermost last; the index is the slot in `Frame.locals`. */
type Bound = readonly string[];

/** Thrown inside this file for a construct of LiquidJS that the compiler does not support. */
class Unsupported extends Error {}

/**
 * A parsed template as one function from scope to text, equal byte for byte to `liquid.renderSync`. Text,
 * output with filters of literal arguments, if, unless and plain for loops become closures; a template with
 * anything else is rendered by LiquidJS. `isPlain` returns whether the output escape leaves a text unchanged; it
 * may return false for such texts.
 */
export function compilePage(
  liquid: Liquid,
  templates: Template[],
  isPlain: (text: string) => boolean = () => false,
): (scope: PageScope) => string {
  try {
    const print = new Compiler(liquid, isPlain).block(templates, []);
    return (scope) => print({ scope, locals: [] });
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
    return (scope) => String(liquid.renderSync(templates, scope));
  }
}

class Compiler {
  readonly liquid: Liquid;
  readonly context: Context;
  readonly isPlain: (text: string) => boolean;

  constructor(liquid: Liquid, isPlain: (text: string) => boolean) {
    this.liquid = liquid;
    this.isPlain = isPlain;
    this.context = new Context({}, liquid.options, { sync: true }, { liquid });
  }

  block(templates: Template[], bound: Bound): Print {
    const prints = templates.map((template) => this.template(template, bound));
    return (frame) => {
      let text = '';
      for (const print of prints) text += print(frame);
      return text;
    };
  }

  template(template: Template, bound: Bound): Print {
    if (template instanceof Output) {
      const get = this.value(template.value, bound);
      return (frame) => text(get(frame));
    }
    if (template instanceof IfTag) return this.branches(template.branches, template.elseTemplates ?? [], bound);
    if (template instanceof UnlessTag) {
      // The first branch of an unless is taken when false, its elsif branches when true.
      const [first, ...rest] = template.branches;
      if (!first) throw new Unsupported();
      const test = this.value(first.value, bound);
      const body = this.block(first.templates, bound);
      const others = this.branches(rest, template.elseTemplates, bound);
      return (frame) => (truthy(test(frame)) ? others(frame) : body(frame));
    }
    if (template instanceof ForTag) return this.loop(template, bound);
    if (template.token.kind === TokenKind.HTML) {
      const literal = (template.token as Token & { getContent: () => string }).getContent();
      return () => literal;
    }
    throw new Unsupported();
  }

  branches(branches: { value: Value; templates: Template[] }[], otherwise: Template[], bound: Bound): Print {
    const rows = branches.map((branch) => ({
      test: this.value(branch.value, bound),
      body: this.block(branch.templates, bound),
    }));
    const last = this.block(otherwise, bound);
    return (frame) => {
      for (const row of rows) if (truthy(row.test(frame))) return row.body(frame);
      return last(frame);
    };
  }

  loop(tag: ForTag, bound: Bound): Print {
    // limit, offset and reversed are left to LiquidJS, as are forloop, break and continue (refused above as
    // tags).
    if (Object.keys(tag.hash.hash).length > 0) throw new Unsupported();
    const collection = this.token(tag.collection, bound);
    const slot = bound.length;
    const body = this.block(tag.templates, [...bound, tag.variable]);
    const otherwise = this.block(tag.elseTemplates, bound);
    return (frame) => {
      const list = collection(frame);
      if (!Array.isArray(list)) {
        if (list === undefined || list === null || list === '') return otherwise(frame);
        throw new TypeError(`a template loops over ${tag.variable} in something that is not a list`);
      }
      if (list.length === 0) return otherwise(frame);
      let text = '';
      for (const item of list) {
        frame.locals[slot] = item;
        text += body(frame);
      }
      return text;
    };
  }

  /** An expression with its filters. */
  value(value: Value, bound: Bound): Get {
    let get = this.expression(value.initial.postfix, bound);
    for (const filter of value.filters) get = this.filter(filter, get);
    return get;
  }

  filter(filter: Filter, get: Get): Get {
    // `default` reads the context leniently and dates read the time zone; with literal arguments the other
    // filters are pure.
    const pure = filter.args.every((arg) => !Array.isArray(arg) && 'content' in arg);
    if (!pure) throw new Unsupported();
    const args = filter.args.map((arg) => (arg as unknown as { content: unknown }).content);
    const { handler } = filter as unknown as {
      handler: (this: unknown, value: unknown, ...args: unknown[]) => unknown;
    };
    if (handler === this.liquid.options.outputEscape) return this.escaped(get);
    const self = { context: this.context, token: (filter as unknown as { token: Token }).token, liquid: this.liquid };
    return (frame) => {
      const result = handler.apply(self, [get(frame), ...args]);
      return typeof result === 'object' && result !== null ? toValueSync(result as never) : result;
    };
  }

  escaped(get: Get): Get {
    const escapeValue = this.liquid.options.outputEscape as unknown as (value: unknown) => string;
    const { isPlain } = this;
    return (frame) => {
      const value = get(frame);
      return typeof value === 'string' && isPlain(value) ? value : escapeValue(value);
    };
  }

  expression(postfix: Token[], bound: Bound): Get {
    const stack: Get[] = [];
    for (const token of postfix) {
      if (!TypeGuards.isOperatorToken(token)) {
        stack.push(this.token(token, bound));
        continue;
      }
      const operator = this.liquid.options.operators[token.operator];
      const right = stack.pop();
      const left = token.operator === 'not' ? undefined : stack.pop();
      if (!operator || !right || (token.operator !== 'not' && !left)) throw new Unsupported();
      const { context } = this;
      const operate = operator as (...operands: unknown[]) => unknown;
      const general: Get = (frame) =>
        toValueSync((left ? operate(left(frame), right(frame), context) : operate(right(frame), context)) as never);
      const equal = token.operator === '==' && left ? textsEqual(left, right) : null;
      stack.push(equal === null ? general : (frame) => equal(frame) ?? general(frame));
    }
    const [only, ...rest] = stack;
    if (!only || rest.length > 0) throw new Unsupported();
    return only;
  }

  /** A literal or a path such as `row.value`, `values['price.input']`. */
  token(token: Token, bound: Bound): Get {
    if ('content' in token) {
      const { content } = token;
      // LiquidJS compares `empty` and `blank` by special methods.
      if (typeof content === 'object' && content !== null) throw new Unsupported();
      return () => content;
    }
    if (!TypeGuards.isPropertyAccessToken(token) || token.variable) throw new Unsupported();
    const [root, ...path] = token.props.map((prop) => ('content' in prop ? prop.content : undefined));
    if (typeof root !== 'string' || root === 'forloop' || path.some((key) => !isKey(key))) throw new Unsupported();
    const slot = bound.lastIndexOf(root);
    const start: Get = slot >= 0 ? (frame) => frame.locals[slot] : (frame) => memberOf(frame.scope, root);
    if (path.length === 0) return start;
    const [key] = path;
    if (path.length === 1 && isKey(key)) return (frame) => read(start(frame), key);
    return (frame) => {
      let value = start(frame);
      for (const key of path as (string | number)[]) value = read(value, key);
      return value;
    };
  }
}

/** Compares two texts without the generators of LiquidJS; null: one of the values is no text. */
function textsEqual(left: Get, right: Get): (frame: Frame) => boolean | null {
  return (frame) => {
    const [one, other] = [left(frame), right(frame)];
    return typeof one === 'string' && typeof other === 'string' ? one === other : null;
  };
}

function isKey(key: unknown): key is string | number {
  return typeof key === 'string' || typeof key === 'number';
}

function memberOf(object: object, key: string | number): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string | number, unknown>)[key] : undefined;
}

/** One step of a path: own properties, and `size`, `first` and `last` of lists and texts, as in LiquidJS. */
function read(value: unknown, key: string | number): unknown {
  if (value === undefined || value === null) return value;
  if (typeof value === 'object' && typeof key === 'string' && Object.hasOwn(value, key)) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) return member;
  }
  const member = memberOf(
    Object(value),
    typeof key === 'number' && Array.isArray(value) && key < 0 ? value.length + key : key,
  );
  if (member !== undefined) return member;
  if (key === 'size' && (typeof value === 'string' || Array.isArray(value))) return value.length;
  if (key === 'first' && Array.isArray(value)) return value[0];
  if (key === 'last' && Array.isArray(value)) return value.at(-1);
  if (key === 'size' && typeof value === 'object') return Object.keys(value).length;
  return undefined;
}

/** As in LiquidJS, only false and nil are falsy. */
function truthy(value: unknown): boolean {
  return value !== false && value !== undefined && value !== null;
}

/** The text that LiquidJS prints for a value. */
function text(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  return Array.isArray(value) ? value.map(text).join('') : String(value);
}
