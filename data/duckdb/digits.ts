// Comparison of numbers by their digits in SQL.
import { HALF_OF_TENTH_DIGIT } from '../../packs/define/digits.ts';

/** `comparedNumber` of packs/define/digits.ts in SQL, for an expression of type DOUBLE. */
function comparedSql(number: string): string {
  const safe = `abs(${number}) <= ${Number.MAX_SAFE_INTEGER} AND ${number} = trunc(${number})`;
  // `format` rounds a half to the even digit, and JavaScript away from zero: there the next double is formatted. Only
  // a half has zeros from the 17th digit on; 41 digits are enough to see that.
  const half = `substr(format('{:.40e}', abs(${number})), 17, 26) = '5${'0'.repeat(25)}'`;
  const rounded = `format('{:.14e}', ${number} * CASE WHEN ${half} THEN ${1 + Number.EPSILON} ELSE 1 END)`;
  // The largest doubles become infinite, or no number.
  const finite = `nullif(abs(TRY_CAST(${rounded} AS DOUBLE)), 'inf'::DOUBLE) * sign(${number})`;
  return `CASE WHEN ${safe} THEN ${number} ELSE coalesce(${finite}, ${number}) END`;
}

/**
 * The condition that a number only adds digits to the stored one, for two expressions of type DOUBLE: `addsDigits` of
 * packs/define/digits.ts in SQL. False when one is NULL.
 */
export function addsDigitsSql(stored: string, read: string): string {
  const sameDigits = `(${comparedSql(stored)}) = (${comparedSql(read)})`;
  const unit = `pow(10, floor(log10(nullif(abs(${read}), 0))) - 9)`;
  const tenDigits = `TRY_CAST(format('{:.9e}', ${stored}) AS DOUBLE) = ${stored}`;
  const near = `abs(${read} - ${stored}) <= ${HALF_OF_TENTH_DIGIT} * ${unit}`;
  return `coalesce(${stored} = ${read} OR ${sameDigits} OR (${tenDigits} AND ${near}), false)`;
}
