// Values as short table cells: plain numbers, and empty cells for missing values (contract section 6).
import type { Attribute, Value } from '../../packs/define/model.ts';
import { linkTarget, Markup } from './markdown.ts';

/** Long texts are cut in tables; the record itself has the full text. */
const LONGEST = 120;

/**
 * One value as a cell: numbers without grouping or unit (the unit is in the heading), ranges `1.25–2.5`,
 * lists with commas. `full`: do not cut long texts.
 */
export function cell(value: Value | undefined, full = false): string | number | Markup {
  if (value === undefined) return '';
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') {
    if (/^https?:\/\/\S+$/i.test(value)) return new Markup(linkTarget(value) ?? '');
    return full ? value : shorten(value);
  }
  if (Array.isArray(value)) return full ? value.join(', ') : shorten(value.join(', '));
  return 'lat' in value ? `${value.lat},${value.lng}` : `${value.min}–${value.max}`;
}

/** Figures with all digits; of other computed numbers, more than six digits are noise in a table. */
const EXACT_FIGURES: readonly string[] = ['count', 'sum', 'min', 'max'];

/** The cells of statistics: count, sum, minimum and maximum exactly, others with six significant digits. */
export function figureCells<Name extends string>(
  names: readonly Name[],
  figures: { readonly [name in Name]?: number },
): (string | number)[] {
  return names.map((name) => {
    const figure = figures[name];
    if (figure === undefined) return '';
    return EXACT_FIGURES.includes(name) ? figure : Number(figure.toPrecision(6));
  });
}

/** Cuts at a word near the limit; the limit counts code points. */
function shorten(text: string): string {
  const characters = [...text];
  if (characters.length <= LONGEST) return text;
  const cut = characters.slice(0, LONGEST).join('');
  const space = cut.lastIndexOf(' ');
  return `${space > LONGEST / 2 ? cut.slice(0, space) : cut}…`;
}

/** Heading of a column: the name of the attribute, with its unit if it has one. */
export function columnTitle({ name, unit }: Attribute): string {
  return unit === null ? name : `${name} (${unit})`;
}
