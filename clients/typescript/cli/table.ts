// Values as a table in a terminal.

/** Control characters of a value could move the cursor or change the terminal. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

/** A value as text in one line: lists with commas, places and ranges in short, absent values empty. */
function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(cellOf).join(', ');
  if (typeof value === 'object') {
    const { lat, lng, min, max, currency } = value as Record<string, unknown>;
    if (lat !== undefined && lng !== undefined) return `${lat}, ${lng}`;
    if (min !== undefined && max !== undefined) return `${min}–${max} ${currency ?? ''}`.trim();
    return cellOf(JSON.stringify(value));
  }
  return String(value).replace(CONTROLS, ' ');
}

const SEGMENTS = new Intl.Segmenter();
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

/** Columns that a text takes in a terminal. */
const widthOf = (text: string): number =>
  [...SEGMENTS.segment(text)].reduce((width, { segment }) => width + (WIDE.test(segment) ? 2 : 1), 0);

/** The text in at most `width` columns. */
function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [start, columns] = ['', 0];
  for (const { segment } of SEGMENTS.segment(text)) {
    columns += widthOf(segment);
    if (columns > width - 1) break;
    start += segment;
  }
  return `${start}…`;
}

/**
 * A table of rows with a line of names. Columns without a value are left out; the widest columns become narrower
 * until the table fits.
 *
 * @example
 * ```ts
 * printTable([{ slug: 'lszh', elevation: 1416 }], { columns: 80, bold: true });
 * ```
 */
export function printTable(
  rows: readonly Readonly<Record<string, unknown>>[],
  { columns, bold }: { columns: number; bold: boolean },
): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) =>
    rows.some((row) => cellOf(row[name]) !== ''),
  );
  if (names.length === 0) return '';
  const cells = rows.map((row) => names.map((name) => cellOf(row[name])));
  const widths = names.map((name, at) => Math.max(widthOf(name), ...cells.map((row) => widthOf(row[at]!))));
  const gaps = 2 * (names.length - 1);
  const least = 6;
  while (widths.reduce((sum, width) => sum + width, gaps) > columns && Math.max(...widths) > least)
    widths[widths.indexOf(Math.max(...widths))]! -= 1;
  const numeric = names.map((name) => rows.every((row) => row[name] === undefined || typeof row[name] === 'number'));
  const line = (texts: readonly string[]) =>
    texts
      .map((text, at) => {
        const cell = shortened(text, widths[at]!);
        const space = ' '.repeat(widths[at]! - widthOf(cell));
        return numeric[at] ? space + cell : cell + space;
      })
      .join('  ')
      .trimEnd();
  const head = line(names);
  return `${[bold ? `\u001b[1m${head}\u001b[0m` : head, ...cells.map(line)].join('\n')}\n`;
}
