// The commands: each reads its arguments, calls the service and prints the answer.
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { datasetTypes, type Inputs, type RecordOf, type TextFormat } from '../index.ts';
import { numberOf, splitFilters } from './arguments.ts';
import { storeCredential, UsageError } from './config.ts';
import type { Context } from './context.ts';

/** A command: arguments and options in its usage, and what it does. */
export interface Command {
  /** Positional arguments. */
  usage: string;
  about: string;
  options: readonly string[];
  run: (context: Context) => Promise<void>;
}

/** The arguments of a command, with at least `count` of them. */
function positionals({ arguments: { positionals: list } }: Context, ...names: string[]): string[] {
  const missing = names[list.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  return [...list];
}

type Row = Record<string, unknown>;

/** A record as a row: its slug, its distance, and its attributes. */
const recordRow = ({ slug, distance_km, attributes }: RecordOf<string>): Row => ({ slug, distance_km, ...attributes });

/** One record as rows of attributes with their provenance. */
const attributeRows = ({ attributes, provenance }: RecordOf<string>): Row[] =>
  Object.entries(attributes).map(([attribute, value]) => {
    const { source_url, observed_at, confidence, status } = provenance[attribute] ?? {};
    return { attribute, value, confidence, observed: observed_at?.slice(0, 10), status, source: source_url };
  });

async function search(context: Context): Promise<void> {
  const [dataset = '', ...texts] = positionals(context, '<dataset>');
  const { words, filters } = splitFilters(texts);
  const { register } = context;
  const q = words.join(' ');
  const input = {
    ...filters,
    ...context.parameters('fields', 'sort', 'near', 'as-of', 'filter'),
    ...(q === '' ? {} : { q, sort: context.text('sort') ?? 'relevance' }),
  };
  const size = context.text('limit');
  const limit = size === undefined ? 20 : numberOf(size, '--limit', 1);
  const format = context.text('format');
  if (format !== undefined && format !== 'json') return searchFormat(context, { dataset, ...input }, limit, format);
  const records = register.dataset(dataset).search({ ...input, limit: Math.min(100, limit) });
  if (context.flag('all') && !context.tables) {
    for await (const record of records) context.write(`${JSON.stringify(record)}\n`);
    return;
  }
  if (context.flag('all') || limit > 100) {
    const items = context.flag('all') ? await Array.fromAsync(records) : await records.first(limit);
    return context.print({ items }, () => items.map(recordRow));
  }
  const page = await records.page();
  context.print(page, () => page.items.map(recordRow));
  if (context.tables && page.next_cursor !== null) context.note('There are further records: --all, or --limit.');
}

/** The most records of a page in each format whose pages make one text. */
const PAGE_SIZES: Readonly<Record<string, number>> = { csv: 1000, ndjson: 1000, geojson: 100 };

/** Prints the records of a search in a format: all, or at most `limit`. What is left out is never silent. */
async function searchFormat(
  context: Context,
  input: Inputs['entity_search'],
  limit: number,
  format: string,
): Promise<void> {
  const size = PAGE_SIZES[format];
  const all = context.flag('all');
  if (size === undefined) {
    if (all) throw new UsageError(`--all needs ${Object.keys(PAGE_SIZES).join(', ')} or no --format (got ${format})`);
    await printFormat(context, 'entity_search', { ...input, limit }, format);
    return noteFurther(context, context.receipt?.next_cursor);
  }
  let head: string | undefined;
  let cursor: string | undefined;
  let remaining = all ? Number.POSITIVE_INFINITY : limit;
  do {
    const page = { ...input, limit: Math.min(size, remaining), ...(cursor === undefined ? {} : { cursor }) };
    const text = await context.register.text('entity_search', page, format as TextFormat);
    cursor = context.receipt?.next_cursor;
    if (format === 'geojson') cursor = featuresOf(text).next_cursor ?? undefined;
    remaining -= page.limit;
    head = writePage(context, format, text, head);
  } while (cursor !== undefined && remaining > 0);
  if (format === 'geojson') context.write(']}\n');
  noteFurther(context, cursor);
}

const featuresOf = (text: string) =>
  JSON.parse(text) as Record<string, unknown> & { features: object[]; next_cursor: string | null };

/** Writes a page after others as one text with them; `head`: what came before the first record. Returns it. */
function writePage(context: Context, format: string, text: string, head?: string): string {
  if (format === 'ndjson') {
    context.write(text);
    return '';
  }
  if (format === 'geojson') {
    const { features, next_cursor: _, ...members } = featuresOf(text);
    const start = head ?? `${JSON.stringify(members).slice(0, -1)},"features":[`;
    const lines = features.map((feature) => JSON.stringify(feature)).join(',\n');
    context.write(head === undefined ? `${start}\n${lines}` : lines === '' ? '' : `,\n${lines}`);
    return start;
  }
  const end = text.indexOf('\n') + 1;
  const names = text.slice(0, end);
  if (head !== undefined && names !== head) throw new Error('the columns changed between two pages: start again');
  context.write(head === undefined ? text : text.slice(end));
  return names;
}

const noteFurther = (context: Context, cursor: string | undefined) =>
  cursor === undefined ? undefined : context.note('There are further records: --all, or --limit.');

async function printFormat<N extends 'entity_search' | 'sql_query'>(
  context: Context,
  name: N,
  input: Inputs[N],
  format: string,
): Promise<void> {
  const { register, terminal } = context;
  if (format === 'arrow') terminal.stdout.write(await register.arrow(name, input));
  else context.write(await register.text(name, input, format as TextFormat));
}

async function get(context: Context): Promise<void> {
  const [dataset = '', ...ids] = positionals(context, '<dataset>', '<record>');
  const parameters = context.parameters('fields', 'as-of');
  const records = context.register.dataset(dataset);
  if (ids.length === 1) {
    const record = await records.get(ids[0]!, parameters);
    return context.print(record, () => attributeRows(record));
  }
  const answer = await records.batch(ids, parameters);
  context.print(answer, () => answer.items.map(recordRow));
  if (answer.missing.length > 0) context.note(`Not found: ${answer.missing.join(', ')}`);
}

async function facts(context: Context): Promise<void> {
  const [dataset = '', record = ''] = positionals(context, '<dataset>', '<record>');
  const answer = await context.register.dataset(dataset).facts(record, context.parameters('attribute'));
  context.print(answer, () =>
    answer.facts.map(({ attribute, value, observed_at, won, confidence, source_url }) => ({
      attribute,
      value,
      observed: observed_at.slice(0, 10),
      published: won ? 'yes' : 'no',
      confidence,
      source: source_url,
    })),
  );
}

async function compare(context: Context): Promise<void> {
  const [dataset = '', ...ids] = positionals(context, '<dataset>', '<record>', '<record>');
  const answer = await context.register.dataset(dataset).compare(ids, context.parameters('attribute', 'as-of'));
  // A line for each column, so that records are next to each other.
  context.print(answer, () =>
    answer.columns.map((column) => ({
      attribute: column,
      ...Object.fromEntries(answer.items.map(({ slug, values }) => [slug, values[column]])),
    })),
  );
  if (answer.missing.length > 0) context.note(`Not found: ${answer.missing.join(', ')}`);
}

async function stats(context: Context): Promise<void> {
  const [dataset = '', attribute = '', ...texts] = positionals(context, '<dataset>', '<attribute>');
  const { words, filters } = splitFilters(texts);
  const by = context.text('by');
  const answer = await context.register.dataset(dataset).stats({
    attribute,
    ...filters,
    ...context.parameters('as-of', 'filter'),
    ...(words.length > 0 ? { q: words.join(' ') } : {}),
    ...(by === undefined ? {} : { group_by: by }),
  });
  const parts = answer.attributes ?? [answer];
  context.print(answer, () =>
    parts.flatMap((part) =>
      (part.rows ?? []).flatMap((row): Row[] => {
        const { groups = [row], group } = row as Row & { groups?: Row[]; group?: unknown };
        const outer = groups[0] === row ? {} : { in: group };
        return groups.map((inner) => ({
          ...(parts.length > 1 ? { attribute: part.attribute } : {}),
          ...outer,
          ...figures(inner),
        }));
      }),
    ),
  );
}

/** The figures of a row that fit a terminal. */
const figures = ({ group, count, min, median, max, mean }: Row): Row => ({ group, count, min, median, max, mean });

/** The most rows that the service answers to a statement. */
const SQL_ROWS = 10_000;

async function sql(context: Context): Promise<void> {
  const [statement = ''] = positionals(context, '<statement>');
  const texts = (context.arguments.values['parameter'] ?? []) as readonly string[];
  const { words, filters } = splitFilters(texts);
  if (words.length > 0 && Object.keys(filters).length > 0)
    throw new UsageError('--parameter is either a value for each ?, or name=value for each $name');
  const parameters = texts.length === 0 ? {} : { parameters: words.length > 0 ? words : filters };
  const format = context.text('format');
  if (format !== undefined && format !== 'json') {
    await printFormat(context, 'sql_query', { sql: statement, ...parameters, max_rows: SQL_ROWS }, format);
    if (context.receipt?.truncated) context.note(`Only the first ${SQL_ROWS} rows: add LIMIT and OFFSET.`);
    return;
  }
  const answer = await context.register.call('sql_query', { sql: statement, ...parameters });
  context.print(answer, () =>
    answer.rows.map((row) => Object.fromEntries(answer.columns.map(({ name }, at) => [name, row[at]]))),
  );
  if (answer.truncated)
    context.note(`Only the first ${answer.row_count} rows: add LIMIT, or use --format csv with a key.`);
}

async function exportDataset(context: Context): Promise<void> {
  const [dataset = ''] = positionals(context, '<dataset>');
  const format = (context.text('format') ?? 'csv') as 'csv' | 'jsonl' | 'parquet';
  const answer = await context.register.dataset(dataset).export(format);
  const output = context.text('output');
  if (output === undefined) return context.print(answer, () => [{ ...answer, sha256: answer.sha256.slice(0, 12) }]);
  const response = await fetch(answer.url);
  if (!response.ok || response.body === null) throw new Error(`the link answered ${response.status}`);
  const body = Readable.fromWeb(response.body as import('node:stream/web').ReadableStream);
  if (output === '-') await pipeline(body, context.terminal.stdout, { end: false });
  else await pipeline(body, createWriteStream(output));
  context.note(`${answer.bytes} bytes of ${dataset}, release ${answer.snapshot}.`);
}

async function key(context: Context): Promise<void> {
  const [action = '', argument = ''] = positionals(context, 'create, show or topup');
  const { keys } = context.register;
  const { url, path, config } = context.service;
  if (action === 'show') {
    const answer = await keys.me({ limit: 10 });
    const { ledger, ...account } = answer;
    return context.print(answer, () =>
      ledger.length > 0 ? ledger.map((row) => ({ ...row, request_id: undefined })) : [account],
    );
  }
  if (action === 'topup') {
    const answer = await keys.topup(numberOf(argument, 'the amount', 5));
    context.print(answer, () => [{ amount_eur: answer.amount_eur }]);
    // Not in the table, which would cut it.
    return context.tables ? context.note(`Pay at ${answer.checkout_url}`) : undefined;
  }
  if (action !== 'create') throw new UsageError(`register key ${action}: use create, show or topup`);
  if (argument === '') throw new UsageError('<email> is missing');
  if (config.services?.[url]?.key !== undefined && !context.flag('replace') && !context.flag('print-key'))
    throw new UsageError(`${path} has a key of ${url}. Use --replace to replace it, or --print-key.`);
  const answer = await keys.create(argument);
  const { key: secret, ...account } = answer;
  if (context.flag('print-key')) return context.print(answer, () => [{ key: secret, ...account }]);
  storeCredential(path, url, { key: secret });
  context.print(account, () => [{ plan: account.plan, balance_eur: account.balance_eur, stored_in: path }]);
}

async function datasets(context: Context): Promise<void> {
  const answer = await context.register.datasets();
  context.print(answer, () =>
    answer.datasets.map(({ id, title, records, license, updated_at }) => ({
      id,
      title,
      records,
      license,
      updated: updated_at.slice(0, 10),
    })),
  );
}

async function types(context: Context): Promise<void> {
  const { positionals: ids } = context.arguments;
  context.write(await datasetTypes(context.register, ids.length > 0 ? ids : undefined));
}

/** The commands that call operations, in the order of the help. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  datasets: { usage: '', about: 'list the datasets', options: [], run: datasets },
  search: {
    usage: '<dataset> [word…] [filter=value…]',
    about: 'find records',
    options: ['fields', 'sort', 'near', 'limit', 'all', 'as-of', 'filter', 'format'],
    run: search,
  },
  get: {
    usage: '<dataset> <record>…',
    about: 'read records with their sources',
    options: ['fields', 'as-of'],
    run: get,
  },
  facts: { usage: '<dataset> <record>', about: 'every observed value of a record', options: ['attribute'], run: facts },
  compare: {
    usage: '<dataset> <record> <record>…',
    about: 'put records next to each other',
    options: ['attribute', 'as-of'],
    run: compare,
  },
  stats: {
    usage: '<dataset> <attribute> [filter=value…]',
    about: 'count, median and range of numbers',
    options: ['by', 'as-of', 'filter'],
    run: stats,
  },
  sql: { usage: '<statement>', about: 'run one SELECT', options: ['parameter', 'format'], run: sql },
  export: {
    usage: '<dataset>',
    about: 'download a whole dataset (plans pro and scale)',
    options: ['format', 'output'],
    run: exportDataset,
  },
  key: {
    usage: 'create <email> | show | topup <eur>',
    about: 'your API key and its credit',
    options: ['replace', 'print-key'],
    run: key,
  },
  types: { usage: '[dataset…]', about: 'write TypeScript types of datasets', options: [], run: types },
};
