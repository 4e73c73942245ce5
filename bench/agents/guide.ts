// Reads guides like an agent that knows their format but not the service: headings, tables, lists.

/** One row of "the cheapest call for each question". */
export interface CallRow {
  want: string;
  /** Path and parameters, with placeholders `{…}`. */
  template: string;
  /** Name of the tool; '' when there is none. */
  tool: string;
  /** EUR; null when a plan is needed. */
  price: number | null;
  /** The price is for each id. */
  each: boolean;
  /** Free without a key. */
  open: boolean;
}

export interface Field {
  open: boolean;
  filters: Set<string>;
}

/** The guide of one dataset. */
export interface ParsedGuide {
  calls: CallRow[];
  /** The form of a filter: a prefix of the field's name, or a complete parameter. */
  grammar: { prefix: string | null; parameter: string; keeps: string }[];
  fields: Map<string, Field>;
  /** A field for counts, from the example in the guide. */
  countBy: string;
}

export interface ParsedRegister {
  datasets: { id: string; guide: string; words: Set<string> }[];
  /** Address and body for making a key. */
  key: { path: string; member: string };
}

/** Markdown without escapes and code marks. */
export const plain = (text: string): string => text.replace(/\\([^\w\s])/g, '$1').trim();
const bare = (text: string) => plain(text).replace(/^`|`$/g, '');

/** The text under a heading. */
function section(text: string, heading: string): string {
  return text.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
}

/** The first table of a text: its columns, then its rows. */
export function tableIn(text: string): { columns: string[]; rows: string[][] } {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith('|'));
  if (first < 0) return { columns: [], rows: [] };
  const cells = (line: string) =>
    line
      .slice(1)
      .split(/(?<!\\)\|/)
      .slice(0, -1)
      .map((cell) => cell.trim());
  const table = lines.slice(first).slice(0, lines.slice(first).findIndex((line) => !line.startsWith('|')) >>> 0);
  return { columns: cells(table[0] ?? '').map(plain), rows: table.slice(2).map(cells) };
}

/** Words for comparing texts. */
export function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[a-z]{3,}/g) ?? [];
  return new Set(words.map((word) => word.replace(/s$/, '')));
}

export function readRegister(text: string): ParsedRegister {
  const datasets = section(text, 'Datasets')
    .split('\n')
    .flatMap((line) => {
      const [, title = '', guide, id, about = ''] = /^- \[(.+?)\]\((\S+?)\): `(.+?)`,(.*)$/.exec(line) ?? [];
      return guide === undefined || id === undefined ? [] : [{ id, guide, words: wordsOf(`${title} ${about}`) }];
    });
  const [, path = '', member = ''] = /`POST (\S+)` with `\{"(\w+)": /.exec(section(text, 'Rules')) ?? [];
  return { datasets, key: { path, member } };
}

export function readGuide(text: string): ParsedGuide {
  const calls = tableIn(section(text, 'The cheapest call')).rows.map(([want = '', get = '', tool = '', cost = '']) => ({
    want: plain(want),
    template: bare(get),
    tool: plain(tool),
    price: cost.startsWith('free') ? 0 : Number.isNaN(Number.parseFloat(cost)) ? null : Number.parseFloat(cost),
    each: cost.includes('for each id'),
    open: cost.includes('without a key'),
  }));
  const grammar = tableIn(section(text, 'Filters and order')).rows.flatMap(([written = '', keeps = '']) => {
    const [first = ''] = written.match(/`[^`]+`/g) ?? [];
    const [, prefix, parameter = ''] = /^`(?:(\w*?)a(?==)|(\w+))/.exec(first) ?? [];
    return [{ prefix: prefix ?? null, parameter: parameter ?? '', keeps: plain(keeps) }];
  });
  const table = section(text, 'Fields');
  const fields = tableIn(table).rows.map(([name = '', , access = '', filters = '']): [string, Field] => {
    const names = plain(filters)
      .split(' ')
      .filter(Boolean)
      .map((prefix) => prefix.replace('=', '') + plain(name));
    return [plain(name), { open: access === 'public', filters: new Set(names) }];
  });
  const [, countBy = ''] = /facets[^?`]*\?by=([\w.]+)`/.exec(table) ?? [];
  return { calls, grammar, fields: new Map(fields), countBy };
}
