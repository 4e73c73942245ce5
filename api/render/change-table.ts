// Changes of values as one compact Markdown table: the changelog and the change feed.

import type { QueryOptions } from '../../data/plan/plan.ts';
import { CHANGES_A_SLICE, mapSlices } from '../../data/plan/slices.ts';
import { attributesOf, type Change } from '../../data/queries/changelog.ts';
import type { Pack, Value } from '../../packs/define/model.ts';
import { cell, columnTitle } from './cells.ts';
import { tableOf, tableRow } from './markdown.ts';
import { minute } from './times.ts';

/** `+0.5 (+4.17 %)`: the change of a number, and in percent of the old one unless that is 0; or the kind of the change. */
function changeCell({ kind, change, change_percent }: Change): string {
  if (kind === 'range') return 'range moved apart or together';
  if (change === undefined) return kind ?? '';
  return change_percent ? `${signed(change)} (${signed(change_percent)} %)` : signed(change);
}

const signed = (value: number): string => `${value > 0 ? '+' : ''}${value}`;

/**
 * One row for each change. `hides` selects the attributes whose values are withheld: both cells then show
 * that, so that an empty cell always means that there was no value. The column with the change of numbers is
 * there when some row has one.
 */
export async function changeTable(
  changes: readonly (Change & { recorded_at?: string })[],
  pack: Pack,
  hides: (attribute: string) => boolean,
  options: QueryOptions,
): Promise<string> {
  const attributes = attributesOf(pack);
  const recorded = changes.some(({ recorded_at }) => recorded_at !== undefined);
  const measured = changes.some(({ kind, change }) => (kind ?? change) !== undefined);
  const columns = [
    ...(recorded ? ['recorded'] : []),
    ...['observed', 'slug', 'attribute', 'type', 'old', 'new'],
    ...(measured ? ['change'] : []),
    'source',
  ];
  const row = (change: (typeof changes)[number]) => {
    const attribute = attributes.get(change.attribute ?? '');
    const hidden = change.attribute !== undefined && hides(change.attribute);
    const valueCell = (value: Value | undefined) => (hidden ? 'not public' : cell(value));
    return tableRow([
      ...(recorded ? [change.recorded_at] : []),
      minute(change.observed_at),
      change.slug,
      attribute ? columnTitle(attribute) : change.attribute,
      change.type,
      hidden && change.type === 'added' ? '' : valueCell(change.old_value),
      valueCell(change.new_value),
      ...(measured ? [changeCell(change)] : []),
      cell(change.source_url),
    ]);
  };
  return tableOf(columns, await mapSlices(changes, CHANGES_A_SLICE, row, options));
}
