// Comparison of numbers by their digits in SQL.
import { HALF_OF_TENTH_DIGIT } from '../../packs/define/digits.ts';

/**
 * The condition that a number only adds digits to the stored one, for two expressions of type DOUBLE: `addsDigits` of
 * packs/define/digits.ts in SQL. False when one is NULL.
 */
export function addsDigitsSql(stored: string, read: string): string {
  const sameDigits = `format('{:.14e}', ${stored}) = format('{:.14e}', ${read})`;
  const unit = `pow(10, floor(log10(nullif(abs(${read}), 0))) - 9)`;
  const tenDigits = `format('{:.9e}', ${stored})::DOUBLE = ${stored}`;
  return `coalesce(${sameDigits} OR (${tenDigits} AND abs(${read} - ${stored}) <= ${HALF_OF_TENTH_DIGIT} * ${unit}), false)`;
}
