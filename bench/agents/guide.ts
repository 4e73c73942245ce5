// Reads the guides as an agent does that knows how a guide is written and nothing of the service: headings, tables, lists.

/** One row of "the cheapest call for each question". */
export interface CallRow {
  want: string;
  /** Path and parameters, with `{…}` to fill in. */
  template: string;
  /** Name of the tool; empty where there is none. */
  tool: string;
  /** EUR; null where a plan is needed. */
  price: number | null;
  /** The price is for each id. */
  each: boolean;
  /** Free as long as no key is sent. */
  open: boolean;
}

export interface Field {
  open: boolean;
  filters: Set<string>;
}

/** The guide of one dataset. */
export interface Guide {
  calls: CallRow[];
  /** How a filter is written: what stands before the field's name, or a whole parameter, and what it keeps. */
  grammar: { prefix: string | null; parameter: string; keeps: string }[];
  fields: Map<string, Field>;
  /** A field that records can be counted by, as the guide shows it. */
  countBy: string;
}

export interface Register {
  datasets: { id: string; guide: string; words: Set<string> }[];
  /** Where and with what a key is made. */
  key: { path: string; member: string };
}

/** Markdown as it reads: without its escapes and code marks. */
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

/** Words by which texts are compared. */
export function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[a-z]{3,}/g) ?? [];
  return new Set(words.map((word) => word.replace(/s$/, '')));
}

export function readRegister(text: string): Register {
  const datasets = section(text, 'Datasets')
    .split('\n')
    .flatMap((line) => {
      const [, title = '', guide, id, about = ''] = /^- \[(.+?)\]\((\S+?)\): `(.+?)`,(.*)$/.exec(line) ?? [];
      return guide === undefined || id === undefined ? [] : [{ id, guide, words: wordsOf(`${title} ${about}`) }];
    });
  const [, path = '', member = ''] = /`POST (\S+)` with `\{"(\w+)": /.exec(section(text, 'Rules')) ?? [];
  return { datasets, key: { path, member } };
}

export function readGuide(text: string): Guide {
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
    const names = (filters.match(/`[^`]+`/g) ?? []).map((each) => each.slice(1, -1));
    return [plain(name), { open: access === 'public', filters: new Set(names) }];
  });
  const [, countBy = ''] = /facets[^?`]*\?by=([\w.]+)`/.exec(table) ?? [];
  return { calls, grammar, fields: new Map(fields), countBy };
}
