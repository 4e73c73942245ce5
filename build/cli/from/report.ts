// What the command prints: the columns as a table, and what the publisher must look at.

import { plural } from '../../../api/render/print.ts';
import { memoryShortage } from '../../../data/duckdb/duck.ts';
import type { AttributeProposal, Proposal } from './proposal.ts';
import type { Trial } from './trial.ts';

const cut = (text: string, most: number): string => {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ');
  return line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line;
};

/** The first texts, and how many more there are of `count`. */
function listed(texts: readonly string[], count = texts.length): string {
  const shown = texts.slice(0, 10);
  return `${shown.join(', ')}${count > shown.length ? ` and ${count - shown.length} more` : ''}`;
}

/** Rows as aligned columns. */
export function alignedColumns(rows: readonly string[][]): string[] {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  );
}

function rolesOf({ name }: AttributeProposal, { identity, choices }: Proposal): string[] {
  return [
    ...(identity.attributes.includes(name) ? ['identity'] : []),
    ...(choices.name === name ? ['name'] : []),
    ...(choices.group === name ? ['group'] : []),
    ...(choices.prominence === name ? ['prominence'] : []),
    ...(choices.public.includes(name) ? ['public'] : []),
    ...(choices.searchable.includes(name) ? ['searched'] : []),
  ];
}

/** Attributes in the table. */
const MOST_ROWS = 60;

/** Lines with a row for each of the first attributes: column, attribute, type, unit, fill, example, roles, reasons. */
export function columnTable(proposal: Proposal): string[] {
  const more = proposal.attributes.length - MOST_ROWS;
  const rows = proposal.attributes.slice(0, MOST_ROWS).map((attribute) => {
    const example = attribute.counts.keys().next().value ?? '';
    // Not 100 % for a column with one empty cell.
    const fill = `${Math.floor((attribute.filled / proposal.rows) * 100)} %`;
    return [
      cut(attribute.columns.join(', ') || '(generated)', 30),
      attribute.name,
      attribute.type,
      attribute.unit ?? '',
      fill,
      cut(example, 24),
      rolesOf(attribute, proposal).join(', '),
      cut(attribute.reasons.join('; '), 140),
    ];
  });
  const lines = alignedColumns([
    ['column', 'attribute', 'type', 'unit', 'filled', 'example', 'roles', 'reasons'],
    ...rows,
  ]);
  return more > 0 ? [...lines, `and ${plural(more, 'more attribute')}, all of which pack.ts lists`] : lines;
}

/** Lines about columns that are not read, choices to check and cells that are left out. */
export function remarkLines({ unread, notes, identity }: Proposal, trial: Trial): string[] {
  const { attributes, broken, columns, newest } = trial;
  const lines = [`Identity: ${identity.attributes.join(' and ')} (${identity.reason}).`];
  if (unread.length > 0) {
    lines.push(`Not read (${unread.length}):`);
    for (const { column, reason } of unread.slice(0, 20)) lines.push(`  ${cut(column, 40)}: ${reason}`);
    if (unread.length > 20) lines.push(`  and ${unread.length - 20} more`);
  }
  const checks = [...notes];
  for (const [attribute, { wrong, example, expected }] of attributes) {
    if (wrong === 0) continue;
    checks.push(
      `${attribute}: ${plural(wrong, 'cell')} left out, such as '${cut(example, 40)}' (expected ${expected})`,
    );
  }
  for (const [attribute, files] of trial.lacking)
    checks.push(`${attribute}: no values in files that lack the column: ${listed(files)}`);
  const former = [...columns].filter(([, file]) => file !== newest).map(([column, file]) => `${column} (${file})`);
  if (former.length > 0) checks.push(`${newest} lacks columns of older files, which are not read: ${listed(former)}`);
  if (broken.count > 0) {
    const rows = broken.first.map(({ line, file, expected }) => `line ${line} of ${file} (expected ${expected})`);
    const lines = listed(rows, broken.count);
    checks.push(`${plural(broken.count, 'row')} could not be read: ${lines}`);
  }
  const bytes = (trial.size / Math.max(1, trial.rows)) * trial.records.size;
  const shortage = memoryShortage(trial.records.size, trial.attributes.size, bytes);
  if (shortage !== null) checks.push(shortage);
  if (checks.length > 0) lines.push('Check:', ...checks.map((check) => `  ${check}`));
  return lines;
}
