// What the command prints: the columns as a table, and what the publisher must look at.
import type { AttributeProposal, Proposal } from './proposal.ts';
import type { Rejections } from './verify.ts';

const cut = (text: string, most: number): string => {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ');
  return line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line;
};

/** Rows as aligned columns. */
function table(rows: readonly string[][]): string[] {
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

/** Lines with a row for each attribute: column, attribute, type, unit, fill, example, roles, reasons. */
export function columnTable(proposal: Proposal): string[] {
  const rows = proposal.attributes.map((each) => {
    const example = each.counts.keys().next().value ?? '';
    const fill = `${Math.round((each.filled / proposal.rows) * 100)} %`;
    return [
      cut(each.columns.join(', ') || '(generated)', 30),
      each.name,
      each.type,
      each.unit ?? '',
      fill,
      cut(example, 24),
      rolesOf(each, proposal).join(', '),
      cut(each.reasons.join('; '), 140),
    ];
  });
  return table([['column', 'attribute', 'type', 'unit', 'filled', 'example', 'roles', 'reasons'], ...rows]);
}

/** Lines about columns that are not read, choices to check and cells that are left out. */
export function remarkLines({ unread, notes, identity }: Proposal, rejections: Rejections, broken: number): string[] {
  const lines = [`Identity: ${identity.attributes.join(' and ')} (${identity.reason}).`];
  if (unread.length > 0) {
    lines.push(`Not read (${unread.length}):`);
    for (const { column, reason } of unread.slice(0, 20)) lines.push(`  ${cut(column, 40)}: ${reason}`);
    if (unread.length > 20) lines.push(`  and ${unread.length - 20} more`);
  }
  const checks = [...notes];
  for (const [attribute, { count, example, expected }] of rejections) {
    const cells = `${count.toLocaleString('en-US')} cell${count === 1 ? '' : 's'}`;
    checks.push(`${attribute}: ${cells} left out, such as '${cut(example, 40)}' (expected ${expected})`);
  }
  if (broken > 0) checks.push(`${broken.toLocaleString('en-US')} row${broken === 1 ? '' : 's'} could not be read`);
  if (checks.length > 0) lines.push('Check:', ...checks.map((each) => `  ${each}`));
  return lines;
}
