// Values as short table cells: bare numbers for machines, nothing where there is nothing (contract section 6).
import type { Attribute, Value } from '../../packs/define/model.ts';
import { linkTarget, Markup } from './markdown.ts';

/** Long texts are cut in tables; the record itself has the whole. */
const LONGEST = 120;

/** One value as a cell: numbers without grouping or unit (the column bears it), ranges `1.25–2.5`, lists with commas. */
export function cell(value: Value | undefined, whole = false): string | number | Markup {
  if (value === undefined) return '';
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') {
    if (/^https?:\/\/\S+$/i.test(value)) return new Markup(linkTarget(value) ?? '');
    return whole ? value : shortened(value);
  }
  if (Array.isArray(value)) return whole ? value.join(', ') : shortened(value.join(', '));
  return 'lat' in value ? `${value.lat},${value.lng}` : `${value.min}–${value.max}`;
}

/** A computed number, such as a mean, to six digits or to the whole number: nobody reads more of it in a table. */
export function computed(value: number | undefined): string | number {
  if (value === undefined) return '';
  return Math.abs(value) >= 1e5 ? Math.round(value) : Number(value.toPrecision(6));
}

/** Cut at a word near the limit, counted in whole characters. */
function shortened(text: string): string {
  const characters = [...text];
  if (characters.length <= LONGEST) return text;
  const cut = characters.slice(0, LONGEST).join('');
  const space = cut.lastIndexOf(' ');
  return `${space > LONGEST / 2 ? cut.slice(0, space) : cut}…`;
}

/** Heading of an attribute's column: its name, with the unit where there is one. */
export function columnTitle({ name, unit }: Attribute): string {
  return unit === null ? name : `${name} (${unit})`;
}
