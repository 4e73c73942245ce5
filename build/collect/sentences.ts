// Values and numbers in sentences of the console and the run log.
import { commandLine } from '../../data/model/program.ts';

/** Most characters of a value or of a record's key in an example. */
const VALUE = 60;

/** JSON of a value. NaN, infinities and big integers are texts, which JSON cannot write as numbers. */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, member: unknown) => {
      if (typeof member === 'bigint' || (typeof member === 'number' && !Number.isFinite(member))) return String(member);
      return typeof member === 'function' ? 'a function' : member;
    });
  } catch {
    return 'a value that contains itself';
  }
}

/** A value as found, on one line, shortened: `NaN`, `"1.000"`, `{"lat":91}`, `nothing`. */
export function valueText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return shorten(jsonText(value) ?? 'nothing');
}

/** The beginning of a text that is longer than an example may be. */
export function shorten(text: string): string {
  return text.length > VALUE ? `${text.slice(0, VALUE).toWellFormed()}…` : text;
}

/** `15 %`, `0.1 %`: three significant digits, but never 100 for less: `99.96 %`. */
export const percent = (share: number): string => {
  const rounded = Number((share * 100).toPrecision(3));
  return `${rounded === 100 && share < 1 ? Math.floor(share * 10_000) / 100 : rounded} %`;
};

/** What to do about a difference that is right, as the beginning of a sentence. */
export const acceptOnce = (dataset: string): string =>
  `If that is right, run \`${commandLine('nightly', `--only ${dataset} --accept`)}\` once`;

/** `3 of 20 values`. */
export const severalOf = (count: number, all: number, noun: string): string =>
  `${count.toLocaleString('en-US')} of ${all.toLocaleString('en-US')} ${noun}${all === 1 ? '' : 's'}`;

/** ` (collect.ts:18)`, or nothing. */
export const lineInFile = (line: string | undefined): string => (line === undefined ? '' : ` (${line})`);
