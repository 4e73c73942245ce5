// Many records as one compact Markdown table, at most a quarter of the tokens of their JSON (contract section
// 6).
import type { Provenance, PublicRecord } from '../../data/model/record.ts';
import type { Pack } from '../../packs/define/model.ts';
import { cell, columnTitle } from './cells.ts';
import { blocks, escapeText, table } from './markdown.ts';
import { markedCell, statusLegend } from './status-mark.ts';

/** Numbers by which records are sorted. */
const FIGURES = ['score', 'distance_km'] as const;

/** The columns that a client selected: `fields` with its groups, and `named` as it wrote them in the address. */
interface SelectedColumns {
  fields: readonly string[];
  named: readonly string[];
}

/** Columns of an answer for `recordTable`: its `fields`, and their names in the address of the call. */
export const selectedColumns = (fields: readonly string[] | null | undefined, url: URL): SelectedColumns | null =>
  fields ? { fields, named: url.searchParams.getAll('fields').join(',').split(',') } : null;

/**
 * One row for each record: its group if records are grouped, slug, score or distance if records have one, and the selected attributes in the order of the
 * pack. Without a selection these are all attributes, the quality, and the name where no attribute contains it. Columns
 * without values are omitted; a line names those that were selected by name, whose long texts are not cut either. Values
 * with a status are marked, with a legend. The last line has the sources.
 */
export function recordTable(
  records: readonly PublicRecord[],
  pack: Pack,
  selected: SelectedColumns | null = null,
): string {
  if (records.length === 0) return '';
  const filled = pack.attributes.filter(({ name }) => records.some((record) => record.attributes[name] !== undefined));
  const hasName =
    selected !== null ||
    filled.some(({ name }) => name === 'name') ||
    records.every((record) => Object.values(record.attributes).includes(record.name));
  const quality = selected === null;
  const figures = FIGURES.filter((name) => records.some((record) => record[name] !== undefined));
  const by = Object.keys(records[0]!.group ?? {});
  const repeatsGroup = (name: string) =>
    by.includes(name) && records.every(({ attributes, group }) => attributes[name] === group?.[name]);
  const shown = filled.filter(({ name }) => !repeatsGroup(name));
  const columns = [
    ...by.map((name) => (shown.some((attribute) => attribute.name === name) ? `group: ${name}` : name)),
    ...['slug', ...figures, ...(hasName ? [] : ['name'])],
    ...[...shown.map(columnTitle), ...(quality ? ['quality'] : [])],
  ];
  const rows = records.map((record) => [
    ...by.map((name) => markedCell(cell(record.group?.[name], true), record.provenance[name])),
    record.slug,
    ...figures.map((name) => record[name] ?? ''),
    ...(hasName ? [] : [record.name]),
    // A record without the attribute is shown with the name that its pack derives from its identity.
    ...shown.map(({ name }) =>
      markedCell(
        cell(record.attributes[name] ?? (name === 'name' ? record.name : undefined), selected?.named.includes(name)),
        record.provenance[name],
      ),
    ),
    ...(quality ? [record.quality_score] : []),
  ]);
  const provenances = records.map(({ provenance }) => provenance);
  const unknown = selected?.fields.filter(
    (name) => selected.named.includes(name) && filled.every((attribute) => attribute.name !== name),
  );
  return blocks(
    table(columns, rows),
    statusLegend(provenances.flatMap((provenance) => Object.values(provenance))),
    unknownLine(unknown ?? []),
    sourceLine(
      pack,
      filled.map(({ name }) => name),
      provenances,
    ),
  ).trimEnd();
}

/** The line about attributes that were requested and have no value; '' without one. */
export const unknownLine = (names: readonly string[]): string =>
  names.length === 0 ? '' : `Not known: ${names.join(', ')}.`;

/** Most sources of one column that are named. */
const NAMED_SOURCES = 3;

/**
 * Which sources gave which columns, and the days on which they were last checked; '' without columns:
 * `Sources: mass: lists.example 2026-02-01 to 2026-03-01; other columns: owner 2026-03-04.`
 */
export function sourceLine(
  pack: Pack,
  columns: readonly string[],
  provenances: readonly Record<string, Provenance>[],
): string {
  const groups = Map.groupBy(columns, (name) =>
    sourcesOf(
      pack,
      provenances.flatMap((cells) => cells[name] ?? []),
    ),
  );
  groups.delete('');
  const [[sources, ...others] = [], ...further] = [...groups]
    .sort(([, some], [, more]) => more.length - some.length)
    .map(([text, names]) => [text, ...names]);
  if (sources === undefined) return '';
  if (further.length === 0) return `Source: ${sources}.`;
  const rest = others.length === 1 ? others[0] : 'other columns';
  return `Sources: ${further.map(([text, ...names]) => `${names.join(', ')}: ${text}; `).join('')}${rest}: ${sources}.`;
}

/** The sources of some values, with the first and the last day. */
function sourcesOf(pack: Pack, cells: readonly Provenance[]): string {
  const groups = [...Map.groupBy(cells, (provenance) => sourceName(pack, provenance))];
  if (groups.length > NAMED_SOURCES) return `${groups.length} sources ${daysOf(cells)}`;
  return groups.map(([source, sameSource]) => `${escapeText(source)} ${daysOf(sameSource)}`).join(', ');
}

function daysOf(cells: readonly Provenance[]): string {
  const days = cells.map(({ observed_at }) => observed_at.slice(0, 10)).sort();
  return days[0] === days.at(-1) ? `${days[0]}` : `${days[0]} to ${days.at(-1)}`;
}

/** A source of the pack whose page or package the address is in; else the host of the address. */
function sourceName({ sources }: Pack, { source, source_url: url }: Provenance): string {
  if (source.kind === 'owner') return 'owner';
  const isPage = (page: string) => /^https?:\/\/[^/]+\/./.test(page) && url.startsWith(page);
  const match = sources.find(
    (candidate) =>
      isPage(candidate.url) || candidate.pins.some((pin) => pin.package && url.includes(`/${pin.package}@`)),
  );
  return match?.id ?? /^https?:\/\/(?:www\.)?([^/?#]+)/.exec(url)?.[1] ?? 'its address';
}
