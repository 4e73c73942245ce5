// The table of tasks, calls and prices in the guides, generated from the operations.

import type { Pack } from '../../packs/define/model.ts';
import { isTool, type Operation } from '../contract/operation.ts';
import { priceCell, priceRank } from '../contract/pricing.ts';
import { blocks, Markup, table } from './markdown.ts';

/** The path of a call in Markdown, with its parameters. `{dataset}` is the placeholder without a pack. */
function address({ rest, formats }: Operation, pack: Pack | null, query: string | undefined): string {
  const path = rest.path.replace(':ds', pack?.id ?? '{dataset}').replace(':entity_id', '{slug}');
  const twin = formats.includes('markdown') && !/\.\w+$/.test(path) ? '.md' : '';
  const method = rest.method === 'GET' ? '' : `${rest.method} `;
  return `${method}${path}${twin}${query === undefined ? '' : `?${query}`}`;
}

/** One row for each task for which an operation is the best call, the cheapest first. */
export function callsTable(operations: readonly Operation[], pack: Pack | null): string {
  const page = [
    'all public fields of one record with a given slug, each with its source',
    new Markup(`\`/datasets/${pack?.id ?? '{dataset}'}/{slug}.md\``),
    '',
    'free',
  ];
  const history = [
    'every public value ever published, with its time and source, in one file',
    new Markup(`\`/files/${pack?.id ?? '{dataset}'}/history.parquet\``),
    '',
    'free',
  ];
  const files = [
    'all public values of all records in one file, with their sources',
    new Markup(`\`/files/${pack?.id ?? '{dataset}'}/public.parquet\``),
    '',
    'free',
  ];
  const offered = operations.filter(({ docs }) => pack === null || docs.answerable?.(pack) !== false);
  const rows = offered.flatMap((operation) =>
    (operation.docs.tasks ?? []).map(({ want, query, open = false }) => ({
      rank: open ? 0 : priceRank(operation, pack),
      row: [
        want,
        new Markup(`\`${address(operation, pack, query)}\``),
        open || !isTool(operation) ? '' : operation.name,
        open ? 'free without a key, 20 records a day' : priceCell(operation, pack),
      ],
    })),
  );
  // The condition of a price is in many rows: they have its first word, and a line below explains it.
  const conditions = new Set<string>();
  const shortened = rows.map(({ rank, row: [want, get, tool, price] }) => {
    const [short = '', condition] = String(price).split('; ');
    if (condition !== undefined) conditions.add(`\`${short}*\`: ${price}.`);
    return { rank, row: [want, get, tool, condition === undefined ? price : `${short}*`] };
  });
  const sorted = [...shortened, { rank: 0, row: page }, { rank: 0, row: files }, { rank: 0, row: history }].sort(
    (a, b) => a.rank - b.rank,
  );
  return blocks(
    table(
      ['task', 'GET', 'tool', 'EUR'],
      sorted.map(({ row }) => row),
    ),
    [...conditions].join(' '),
  ).trim();
}

/** Recommended steps, those that save most first. */
const STEPS: readonly string[] = [
  'Use the first row that answers the question: rows are sorted by price.',
  'Fill in `{…}` with names from the guide of the dataset; omit parameters without a value. `{filters}` are one or more filters, joined by `&`.',
  'Public fields are free where a call is free without a key: then send no key. A paid field needs one, also in a filter or in `sort`.',
  'Paid fields of one record: search its slug by public fields without a key, then get the record; that is cheaper than a paid search.',
  'Request only the records (`limit`) and fields (`fields`) that the answer needs.',
  'Cite with the `attribution`; open `source_url` before a decision that costs something.',
];

/** The steps as a numbered list. */
export const stepsText = (): string => STEPS.map((step, at) => `${at + 1}. ${step}`).join('\n');
