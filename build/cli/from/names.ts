// Names of attributes, and what a column's name reveals: unit, currency, role.
import slugify from '@sindresorhus/slugify';
import { REFUSED_NAMES } from '../../../packs/define/attributes.ts';

/** Units, each with the other spellings that names of columns use. All are found in lower case. */
const SPELLINGS =
  'm=meter,metre,meters,metres km=kilometers,kilometres cm mm nm ft=feet mi=miles km/h=kmh,kph mph ' +
  'kg=kgs g=grams mg lb=lbs,pounds oz=ounces t l=litres,liters ml cl hl ha m²=m2,sqm,qm km²=km2,sqkm cm²=cm2 m³=m3 cm³=cm3 ' +
  'ms s=sec,secs,seconds,sekunden min=mins,minutes,minuten h=hr,hrs,hours,stunden days=d,tage weeks months years=jahre ' +
  'kWh kW W V mAh MW GB MB TB kB Hz kHz MHz GHz kJ kcal dB px dpi ppm bar psi bytes tokens ' +
  '%=pct,percent,prozent,perc °C=celsius °F=fahrenheit degrees=deg';

/** Units by the spelling that names of columns use. A map: a column may be named `constructor`. */
const UNITS: ReadonlyMap<string, string> = new Map([
  ['sqft', 'sq ft'],
  ['inches', 'in'],
  ...SPELLINGS.split(' ').flatMap((entry) => {
    const [unit = '', others = ''] = entry.split('=');
    return [unit.toLowerCase(), ...others.split(',').filter(Boolean)].map((spelling) => [spelling, unit] as const);
  }),
]);

/** Units by a sign that names and values use. */
const SIGN_UNITS = new Map(Object.entries({ '°': 'degrees', '€/m²': 'EUR/m²', in: 'in', '"': 'in' }));

const CURRENCY_SIGNS = new Map(
  Object.entries({
    ...{ '€': 'EUR', $: 'USD', US$: 'USD', '£': 'GBP', '¥': 'JPY', '₹': 'INR', '₽': 'RUB', '₩': 'KRW', '₺': 'TRY' },
    ...{
      zł: 'PLN',
      Kč: 'CZK',
      'Fr.': 'CHF',
      R$: 'BRL',
      A$: 'AUD',
      C$: 'CAD',
      euro: 'EUR',
      euros: 'EUR',
      dollar: 'USD',
    },
  }),
);

const CURRENCY_CODES = new Set(
  (
    'EUR USD GBP CHF JPY CNY INR AUD CAD NZD SEK NOK DKK PLN CZK HUF RON BGN TRY RUB UAH BRL MXN ZAR KRW SGD HKD' +
    ' ILS AED SAR THB IDR MYR PHP VND ARS CLP COP EGP NGN KES ISK'
  ).split(' '),
);

/** ISO 4217 code of a sign or code such as `€` or `eur`; null when it is none. */
export function currencyOf(text: string): string | null {
  const code = text.toUpperCase();
  if (CURRENCY_CODES.has(code)) return code;
  return CURRENCY_SIGNS.get(text) ?? CURRENCY_SIGNS.get(text.toLowerCase()) ?? null;
}

/** Unit of a text around numbers, as printed; null when it is not known. */
export function knownUnit(text: string): string | null {
  const trimmed = text.trim();
  // `12 M` are millions and no metres.
  if (/^[A-Z]$/.test(trimmed) && UNITS.get(trimmed.toLowerCase()) !== trimmed) return null;
  return SIGN_UNITS.get(trimmed) ?? UNITS.get(trimmed.toLowerCase()) ?? null;
}

/** A column's name in words: `Weight (kg)` is `weight`, with the unit `kg` in parentheses. */
export interface ColumnName {
  /** Snake case, with dots where the column has them; '' when no Latin letter or digit is left. */
  snake: string;
  /** Text in parentheses at the end, when it is a unit or a currency. */
  bracket: string | null;
}

/** The most characters of a name that is generated. */
const LONGEST_NAME = 60;

/** Units in lower case: `kWh` is one word, and no `k_wh`. */
const withPlainUnits = (text: string): string =>
  text.replace(/(?<![A-Za-z])[A-Za-z]+(?![A-Za-z])/g, (word) =>
    UNITS.has(word.toLowerCase()) ? word.toLowerCase() : word,
  );

function snakeCase(text: string): string {
  const slug = slugify(withPlainUnits(text).replaceAll(/[%‰]/g, ' percent ').replaceAll('€', ' EUR '), {
    separator: '_',
  });
  return slug.slice(0, LONGEST_NAME).replace(/_+$/, '');
}

/** Reads the name of a column. */
export function readName(column: string): ColumnName {
  const bracket = /^(.+?)\s*[([]\s*([^()[\]]{1,12}?)\s*[)\]]\s*$/u.exec(column);
  const inside = bracket?.[2];
  const isUnit = inside !== undefined && (knownUnit(inside) !== null || currencyOf(inside) !== null);
  const text = isUnit ? bracket![1]! : column;
  // The dot of an abbreviation, as in `No. of rooms`, separates nothing.
  const segments = text.split(/(?<=\S)\.(?=\S)/).map(snakeCase);
  const grouped = segments.length > 1 && segments.every((segment) => /^[a-z]/.test(segment));
  return { snake: grouped ? segments.join('.') : snakeCase(text), bracket: isUnit ? inside : null };
}

/** What `_min` at the end of these is: minutes. At the end of other names it is a minimum. */
const TIMES = /^(duration|time|runtime|length|walk|drive|travel|delay|dauer|zeit|wait|age|interval)s?$/;

/** Unit that the name of a column of numbers ends with: `height_m`, `Weight (kg)`; null when there is none. */
export function unitInName({ snake, bracket }: ColumnName): string | null {
  if (bracket !== null && knownUnit(bracket) !== null) return knownUnit(bracket);
  const tokens = snake.split(/[_.]/);
  const last = tokens.at(-1)!;
  if (tokens.length < 2) return last === 'percent' ? '%' : null;
  if ((last === 'c' || last === 'f') && /^temp/.test(tokens.at(-2)!)) return last === 'c' ? '°C' : '°F';
  if (last === 'min' && !TIMES.test(tokens.at(-2)!)) return null;
  return UNITS.get(last) ?? null;
}

/** Currency that the name of a column contains: `price_eur`, `Preis (€)`; null when there is none. */
export function currencyInName({ snake, bracket }: ColumnName): string | null {
  if (bracket !== null && currencyOf(bracket) !== null) return currencyOf(bracket);
  const tokens = snake.split(/[_.]/);
  if (tokens.length < 2) return null;
  return currencyOf(tokens.at(-1)!) ?? currencyOf(tokens[0]!);
}

/** Currency in a number format of a workbook, such as `#,##0.00 "€"` or `[$CHF-807]#,##0`; null when it has none. */
export function currencyInFormat(format: string): string | null {
  const parts = format.matchAll(/\[\$([^\]-]+)|"([^"]+)"|([€$£¥₹₽₩₺])/g);
  return parts.map(([, symbol, quoted, sign]) => currencyOf((symbol ?? quoted ?? sign)!.trim())).find(Boolean) ?? null;
}

const PRICE =
  /(^|[_.])(price|prices|preis|preise|prix|precio|prezzo|cost|costs|kosten|fee|fees|gebuehr|rent|miete|fare|msrp|rrp|uvp)([_.]|$)/;

/** Whether the name means an amount of money. */
export const namesPrice = (snake: string): boolean => PRICE.test(snake);

const GROUP =
  /(^|[_.])(category|kategorie|type|typ|kind|art|group|gruppe|class|klasse|country|land|region|state|brand|marke|city|stadt|ort|town|sector|branche|genre|department)([_.]|$)/;

/** Whether the name means what records are grouped by, such as a town or a brand: new ones are to be expected. */
export const namesGroup = (name: string): boolean => GROUP.test(name);

const PREFIXES = ['like', 'not', 'min', 'max', 'has', 'is'];

/**
 * A valid attribute name for each column, in order. Names are unique, are not reserved, and are no filter or
 * group of another one.
 */
export function attributeNames(columns: readonly ColumnName[]): string[] {
  const names: string[] = [];
  for (const [i, { snake, bracket }] of columns.entries()) {
    const text = snake === '' ? `column_${i + 1}` : snake;
    const base = /^[a-z]/.test(text) ? text : `value_${text}`;
    const unit = bracket === null ? '' : snakeCase(currencyOf(bracket) ?? bracket);
    const choices = [base, unit === '' ? `${base}_value` : `${base}_${unit}`];
    // A second column of the name gets a number; `_value` is for reserved names.
    const choice = choices.find((name, n) => isFree(name, names) && (n === 0 || unit !== '' || isReserved(base)));
    names.push(choice ?? unusedName(base, names));
  }
  return withoutClashes(names);
}

const isReserved = (name: string): boolean => REFUSED_NAMES.includes(name);
const isFree = (name: string, names: readonly string[]): boolean => !names.includes(name) && !isReserved(name);

/** The name, with a number when it is in use or reserved. */
export function unusedName(base: string, names: readonly string[]): string {
  let name = base;
  for (let n = 2; !isFree(name, names); n++) name = `${base}_${n}`;
  return name;
}

/** Renames `min_price` next to `price`, and `price.list` next to `price`. */
function withoutClashes(names: string[]): string[] {
  const renamed = new Set<number>();
  // A new name may clash with another one, so all are checked again after each change.
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const prefix = PREFIXES.find(
      (candidate) => name.startsWith(`${candidate}_`) && names.includes(name.slice(candidate.length + 1)),
    );
    const inGroup = names.some((other) => name.startsWith(`${other}.`));
    if (prefix === undefined && !inGroup) continue;
    const base = prefix === undefined ? name.replaceAll('.', '_') : `${name.slice(prefix.length + 1)}_${prefix}`;
    names[i] = unusedName(renamed.has(i) ? `column_${i + 1}` : base, names);
    renamed.add(i);
    i = -1;
  }
  return names;
}
