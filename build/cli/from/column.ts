// The values of one column, counted.
import { fold, normalizeText, storedText } from '../../../packs/define/text.ts';

/** Form of the cells of a column: texts to parse, or values that already have a type. */
export type Form = 'text' | 'number' | 'boolean' | 'list' | 'object';

/** One column of a sample. */
export interface SourceColumn {
  /** Name in the source. */
  name: string;
  form: Form;
  /** How often each value occurs, as trimmed text, most frequent first. Empty cells are not counted. */
  counts: ReadonlyMap<string, number>;
  /** Rows with a value. */
  filled: number;
  /** Rows with white space only. */
  blank: number;
  /** Rows of the sample. */
  rows: number;
  /** For lists: how often each entry occurs. */
  entries: ReadonlyMap<string, number>;
  /** Number format of a workbook. */
  format?: string | undefined;
}

/** A cell as text in its stored form, without surrounding white space; '' without a value. */
export function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'string') return normalizeText(cell).trim();
  if (cell instanceof Date) return Number.isNaN(cell.getTime()) ? '' : cell.toISOString();
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

/** Whether the register stores the text: it is not damaged, and something of it is visible. */
export const isStorable = (text: string): boolean => !text.includes('\ufffd') && storedText(text) !== '';

function formOf(cell: unknown): Form {
  if (typeof cell === 'number' || typeof cell === 'bigint') return 'number';
  if (typeof cell === 'boolean') return 'boolean';
  if (Array.isArray(cell)) return cell.every((entry) => typeof entry === 'string') ? 'list' : 'object';
  return typeof cell === 'object' && cell !== null && !(cell instanceof Date) ? 'object' : 'text';
}

const byCount = (counts: Map<string, number>) => new Map([...counts].sort(([, a], [, b]) => b - a));

/** Counts the values of a column. A column with texts and numbers is one of texts. */
export function countColumn(name: string, rows: readonly (readonly unknown[])[], index: number): SourceColumn {
  const counts = new Map<string, number>();
  const entries = new Map<string, number>();
  const forms = new Set<Form>();
  let filled = 0;
  let blank = 0;
  for (const row of rows) {
    const cell = row[index];
    const text = cellText(cell);
    if (typeof cell === 'string' && text === '' && cell !== '') blank++;
    if (text === '' || text === '[]') continue;
    filled++;
    forms.add(formOf(cell));
    counts.set(text, (counts.get(text) ?? 0) + 1);
    if (Array.isArray(cell))
      for (const entry of cell) entries.set(String(entry), (entries.get(String(entry)) ?? 0) + 1);
  }
  const form = forms.has('object') ? 'object' : forms.size === 1 ? [...forms][0]! : 'text';
  return { name, form, counts: byCount(counts), filled, blank, rows: rows.length, entries: byCount(entries) };
}

/** Texts that mean "no value" wherever they occur. */
const MISSING = new Set([
  ...['n/a', '#n/a', 'n.a.', 'n. a.', 'null', '(null)', 'nan', '\\n', '-', '--', '---', '—', '–', '?', 'k.a.', 'k. a.'],
  ...['keine angabe', 'not available', '#value!', '#ref!', '#div/0!', '#name?'],
]);
/** Texts that mean it in columns of numbers and dates, and in others when they are frequent. */
const OFTEN_MISSING = new Set(['none', 'na', 'nil', 'tbd', 'unbekannt', 'unknown', 'keine', '.', '...', 'x']);
/** Of these, the ones that may be a category of a text column. */
const CATEGORIES = new Set(['unknown', 'unbekannt', 'x']);
/** Characters of the longest of these texts. */
const LONGEST_MISSING = 16;
/** Spellings that are names in columns of texts. */
const NAMES = new Set(['Nan', 'NAN', 'Null']);
const FREQUENT = 0.02;

/** Texts of a column that mean "no value", as spelt there, with their counts. */
export function missingTexts(column: SourceColumn, typed: boolean): Map<string, number> {
  const counts = new Map<string, number>();
  if (column.form !== 'text') return counts;
  // Readers refuse white space where a number is expected, unless it is listed.
  if (typed && column.blank > 0) counts.set('', column.blank);
  const codes = [...column.counts.keys()].slice(0, 50).every((text) => /^[A-Z]{2}$/.test(text));
  for (const [text, count] of column.counts) {
    if (text.length > LONGEST_MISSING) continue;
    const folded = fold(text);
    const frequent = count >= 2 && count >= column.filled * FREQUENT;
    // `Nan` and `NAN` are a town and an airport; programs write `nan` and `NaN`.
    if (!typed && NAMES.has(text)) continue;
    const often = OFTEN_MISSING.has(folded) && (typed || (frequent && !CATEGORIES.has(folded) && !codes));
    if (MISSING.has(folded) || often) counts.set(text, count);
  }
  return counts;
}
