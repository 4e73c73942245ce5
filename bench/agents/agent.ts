// The scripted agent: picks the dataset by its words and the call by the guide's table and prices, fills it
// in, reads the answer.
import type { AgentAnswer, Channel } from './channels.ts';
import { type CallRow, type ParsedGuide, type ParsedRegister, plain, readGuide, tableIn, wordsOf } from './guide.ts';
import type { AgentQuestion, QuestionCondition } from './question.ts';

/** A call, and the calls that find its parameters first. */
interface Plan {
  row: CallRow;
  finders: { row: CallRow; where: QuestionCondition[] }[];
  cost: number;
}

export interface ScriptedReply {
  rows: string[][];
  calls: AgentAnswer[];
}

export class Agent {
  private readonly guides = new Map<string, Promise<ParsedGuide>>();
  readonly channel: Channel;
  readonly register: ParsedRegister;

  constructor(channel: Channel, register: ParsedRegister) {
    this.channel = channel;
    this.register = register;
  }

  /** The dataset with the most words of the question. */
  datasetFor({ text }: AgentQuestion): string {
    const asked = wordsOf(text);
    const known = this.register.datasets.map(({ id, words }) => ({ id, shared: asked.intersection(words).size }));
    return known.sort((a, b) => b.shared - a.shared)[0]?.id ?? '';
  }

  guide(dataset: string): Promise<ParsedGuide> {
    const known = this.guides.get(dataset);
    if (known) return known;
    const address = this.register.datasets.find(({ id }) => id === dataset)?.guide ?? '';
    const read = this.channel.guide(dataset, address).then(({ text }) => readGuide(text));
    this.guides.set(dataset, read);
    return read;
  }

  async answer(question: AgentQuestion): Promise<ScriptedReply> {
    const dataset = this.datasetFor(question);
    const guide = await this.guide(dataset);
    const plan = cheapest(question, guide, this.channel);
    const calls: AgentAnswer[] = [];
    const slugs: string[] = [];
    for (const { row, where } of plan.finders) {
      const said = await this.channel.call(filled(row, { ...question, where, fields: [] }, guide, []), row, dataset);
      calls.push(said);
      slugs.push(cellsOf(said.text, 'slug', 1)[0] ?? '');
    }
    const said = await this.channel.call(filled(plan.row, question, guide, slugs), plan.row, dataset);
    calls.push(said);
    return { rows: readOff(said.text, question), calls };
  }
}

/** All fields in a question. */
const namesOf = ({ fields, where, order }: Pick<AgentQuestion, 'fields' | 'where' | 'order'>) => [
  ...fields,
  ...where.filter(({ relation }) => relation !== 'is within').map(({ field }) => field),
  ...(order ? [order.field] : []),
];

const isOpen = (guide: ParsedGuide, names: string[]) => names.every((name) => guide.fields.get(name)?.open);

/** Whether a row fits: its channel has it, it needs no plan, and without a key all fields are public. */
function takes(row: CallRow, names: string[], guide: ParsedGuide, channel: Channel): boolean {
  if (row.price === null || (row.open && !channel.anonymous) || !channel.has(row)) return false;
  return !/\bpublic field/.test(row.want) || isOpen(guide, names);
}

/**
 * The cheapest row that answers the question, with the calls that find its records, by price, then calls,
 * then position in the table.
 */
function cheapest(question: AgentQuestion, guide: ParsedGuide, channel: Channel): Plan {
  const fitting = guide.calls.filter(({ want }) => question.wants.every((word) => want.includes(word)));
  const plans = fitting.flatMap((row): Plan[] => {
    if (!takes(row, namesOf(question), guide, channel)) return [];
    const subjects = question.subjects ?? [question.where];
    const ids = /\{slugs?\}/.test(row.template) ? subjects : [];
    // One slug is one record: several rows or subjects need a call for several records.
    if (question.subjects ? !row.template.includes('{slugs}') : ids.length > 0 && (question.n ?? 1) > 1) return [];
    const finders = ids.map((where) => ({ where, row: finder({ ...question, where, fields: [] }, guide, channel) }));
    if (finders.some((each) => each.row === undefined)) return [];
    const found = finders as Plan['finders'];
    const own = (row.price ?? 0) * (row.each ? ids.length : 1);
    return [{ row, finders: found, cost: own + found.reduce((sum, each) => sum + (each.row.price ?? 0), 0) }];
  });
  const [best] = plans.sort((a, b) => a.cost - b.cost || a.finders.length - b.finders.length);
  if (!best) throw new Error(`the guide has no call for: ${question.text}`);
  return best;
}

/** The first row that lists records by filters, with their slugs. */
function finder(question: AgentQuestion, guide: ParsedGuide, channel: Channel): CallRow | undefined {
  const names = namesOf(question);
  return guide.calls.find((row) => /\{filters\}.*\{fields\}/.test(row.template) && takes(row, names, guide, channel));
}

/** A filter in the grammar of the guide. */
function written({ field, relation, value }: QuestionCondition, guide: ParsedGuide): [string, string] {
  const subject = relation === 'is within' ? 'it' : 'a';
  const rule = guide.grammar.find(({ keeps }) => keeps.startsWith(`${subject} ${relation}`));
  if (!rule) throw new Error(`the guide has no filter for "${relation}"`);
  if (rule.prefix === null) return [rule.parameter, value];
  const name = rule.prefix + field;
  if (!guide.fields.get(field)?.filters.has(name)) throw new Error(`the guide has no filter ${name}`);
  return [name, relation === 'is' ? value.replace(/[\\,]/g, '\\$&') : value];
}

/** The address of a call with its values; parameters without a value are left out. */
function filled({ template }: CallRow, question: AgentQuestion, guide: ParsedGuide, slugs: string[]): URL {
  const { where, fields, order, group, n = 1 } = question;
  const values: Record<string, string | undefined> = {
    slug: slugs[0],
    slugs: slugs.join(','),
    field: fields[0] ?? guide.countBy,
    fields: fields.length > 0 ? fields.join(',') : [...guide.fields.keys()][0],
    order: order ? `${order.highest ? '-' : ''}${order.field}` : undefined,
    group: group?.field,
    n: String(n),
  };
  const [path = '', query = ''] = template.split('?');
  const url = new URL(
    path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? ''),
    'http://guide',
  );
  for (const part of query.split('&').filter((each) => each !== '')) {
    const [name = '', given = ''] = part.split('=');
    if (part === '{filters}') for (const condition of where) url.searchParams.append(...written(condition, guide));
    else {
      const value = given.replace(/\{(\w+)\}/g, (_, each: string) => values[each] ?? '');
      if (value !== '') url.searchParams.append(name, value);
    }
  }
  return url;
}

/** Values of a name: a column of the table, a row of it, or a line of a list. */
export function cellsOf(text: string, name: string, n: number, row?: string): string[] {
  const { columns, rows } = tableIn(text);
  const titled = (title: string) => title === name || title.startsWith(`${name} (`);
  const at = columns.findIndex(titled);
  const chosen = row === undefined ? rows.slice(0, n) : rows.filter(([first = '']) => plain(first) === row);
  if (at >= 0) return chosen.map((cells) => plain(cells[at] ?? ''));
  const line = rows.find(([first = '']) => titled(plain(first)));
  if (line) return line.slice(1, 1 + n).map(plain);
  const listed = text.matchAll(new RegExp(`^- ${name.replace(/[.]/g, '\\$&')}: (.*?)(?: \\(\\[.*)?$`, 'gm'));
  // A line that only links to a source has no value.
  const lines = [...listed].map(([, value = '']) => plain(value)).filter((value) => !value.startsWith('['));
  if (lines.length > 0) return lines.slice(0, n);
  // One record matches, two records match.
  const counted = new RegExp(`(\\d+) ${name.replace('records', 'records?')}`).exec(text)?.[1];
  return counted === undefined ? [] : [counted];
}

function readOff(text: string, { read, n = 1, group, subjects }: AgentQuestion): string[][] {
  // Records in sequence, each under its heading.
  const records = text.split(/^# /m).slice(1);
  if (subjects && records.length === subjects.length)
    return records.map((record) => read.map((name) => cellsOf(record, name, 1)[0] ?? ''));
  const columns = read.map((name) => cellsOf(text, name, subjects?.length ?? n, group?.value));
  return Array.from({ length: Math.max(0, ...columns.map(({ length }) => length)) }, (_, at) =>
    columns.map((column) => column[at] ?? ''),
  );
}
