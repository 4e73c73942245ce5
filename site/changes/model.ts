// The data that a list of changes needs in the browser, and how a change is shown: for the build and the script.
import type { SiteChange, SiteDataset } from '../../api/pages/site.ts';
import { printNumber, printPercent, printWithUnit } from '../../api/render/print.ts';

/** Changes on a page of a list. */
export const PAGE = 50;

export interface ChangesModel {
  dataset: string;
  title: string;
  /** Path of the changelog, of the pages of records, and of the page of changes, with the site's prefix. */
  api: string;
  records: string;
  page: string;
  /** Attributes of the view without filters. */
  main: string[];
  /** The public attributes by name. */
  attributes: Record<string, { unit: string | null; better: 'low' | 'high' | null }>;
  /** Attribute that groups the records, which the form filters by. */
  group_by: string;
  limit: number;
}

/** `href` adds the site's prefix to a path. */
export function changesModel(dataset: SiteDataset, href: (path: string) => string, limit = PAGE): ChangesModel {
  const { id, title, attributes, changes, group_by } = dataset;
  const open = attributes.filter((attribute) => attribute.public);
  return {
    ...{ dataset: id, title, group_by, limit, main: changes.attributes },
    api: href(`/v1/${id}/changelog`),
    records: href(`/datasets/${id}/`),
    page: href(`/changes/${id}/`),
    attributes: Object.fromEntries(open.map(({ name, unit, better = null }) => [name, { unit, better }])),
  };
}

export interface Move {
  /** What happened, for screen readers; '' where the text says it. */
  word: 'rose' | 'fell' | '';
  text: string;
  /** The CSS class: only the pack decides whether a direction is good. */
  mark: 'better' | 'worse' | 'moved';
}

/** The cells of a change. */
export interface ChangeCells {
  attribute: string;
  /** What happened, for a change without shown values. */
  note: string | null;
  was: string | null;
  now: string | null;
  /** Direction and size: `▼ −20 %`. */
  move: Move | null;
}

type Better = 'low' | 'high' | null;

const LONGEST = 80;

export function cellsOf(change: SiteChange, attributes: ChangesModel['attributes']): ChangeCells {
  const { attribute = '', type, old_value, new_value } = change;
  const entry = attributes[attribute];
  const print = (value: SiteChange['new_value']) => {
    if (value === undefined) return null;
    const text = printWithUnit(value, entry?.unit ?? null);
    return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  };
  const now = print(new_value);
  // The unit is shown once, after the new value.
  const before = print(old_value);
  const unit = entry?.unit ? ` ${entry.unit}` : '';
  const was =
    before !== null && now !== null && unit !== '' && before.endsWith(unit) ? before.slice(0, -unit.length) : before;
  const note =
    attribute === '' ? type : entry === undefined ? `${type}, value paid` : now === null ? 'withdrawn' : null;
  return {
    attribute: attribute || 'the record',
    note,
    was,
    now,
    move: moveOf(change, entry?.better),
  };
}

function moveOf({ kind, change = 0, change_percent: percent }: SiteChange, better: Better = null): Move | null {
  if (kind === 'range') return { word: '', text: 'range', mark: 'moved' };
  if (kind !== 'rise' && kind !== 'fall') return null;
  const fell = kind === 'fall';
  const amount = `${fell ? '−' : '+'}${printNumber(Math.abs(change))}`;
  return {
    word: fell ? 'fell' : 'rose',
    // A percentage that rounds to 0 says less than the change itself.
    text: `${fell ? '▼' : '▲'} ${percent ? printPercent(percent) : amount}`,
    mark: better === null ? 'moved' : fell === (better === 'low') ? 'better' : 'worse',
  };
}
