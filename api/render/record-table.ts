// Many records as one compact Markdown table, at most a quarter of the tokens of their JSON (contract section
// 6).
import type { PublicRecord } from '../../data/model/record.ts';
import type { Pack } from '../../packs/define/model.ts';
import { cell, columnTitle } from './cells.ts';
import { table } from './markdown.ts';
import { markedCell, statusLegend } from './status-mark.ts';

/** Numbers by which records are sorted. */
const FIGURES = ['score', 'distance_km'] as const;

/**
 * One row for each record: slug, score or distance if records have one, attributes in the order of the pack, quality.
 * Columns without values are omitted, and so is the name of the record where an attribute contains it. Values
 * with a status are marked, with a legend below. `full` names the attributes whose long texts are not cut.
 */
export function recordTable(records: readonly PublicRecord[], pack: Pack, full: readonly string[] = []): string {
  const filled = pack.attributes.filter(({ name }) => records.some((record) => record.attributes[name] !== undefined));
  const hasName =
    filled.some(({ name }) => name === 'name') ||
    records.every((record) => Object.values(record.attributes).includes(record.name));
  const figures = FIGURES.filter((name) => records.some((record) => record[name] !== undefined));
  const columns = ['slug', ...figures, ...(hasName ? [] : ['name']), ...filled.map(columnTitle), 'quality'];
  const rows = records.map((record) => [
    record.slug,
    ...figures.map((name) => record[name] ?? ''),
    ...(hasName ? [] : [record.name]),
    // A record without the attribute is shown with the name that its pack derives from its identity.
    ...filled.map(({ name }) =>
      markedCell(
        cell(record.attributes[name] ?? (name === 'name' ? record.name : undefined), full.includes(name)),
        record.provenance[name],
      ),
    ),
    record.quality_score,
  ]);
  const legend = statusLegend(records.flatMap(({ provenance }) => Object.values(provenance)));
  return [table(columns, rows), ...(legend === null ? [] : [legend])].join('\n\n');
}
