// Parts of the shapes of pack.ts. Every message completes the sentence "expected …".
import { z } from 'zod';
import { hasAtMost, LONGEST_TEXT, lineText, storedText } from './text.ts';

/** A text as it is in a source, such as the name of a column or of a file. */
export const exactText = (expected: string) => z.string({ error: expected }).trim().min(1, expected);

/** A text for readers on one line: a title, a unit, a description. */
export const requiredText = (expected: string) => z.string({ error: expected }).overwrite(lineText).min(1, expected);

/** A text that is a value of records. */
export const textValue = (expected: string) => {
  const short = `${expected} of at most ${LONGEST_TEXT.member.toLocaleString('en-US')} characters`;
  return z
    .string({ error: expected })
    .overwrite(storedText)
    .min(1, expected)
    .refine((text) => hasAtMost(text, LONGEST_TEXT.member), short);
};

export const httpAddress = (expected = 'an http or https address') => z.url({ protocol: /^https?$/, error: expected });

export const boundedNumber = (expected: string, min: number, max = Number.MAX_SAFE_INTEGER) =>
  z.number({ error: expected }).min(min, expected).max(max, expected);

export const wholeNumber = (expected: string, min: number, max?: number) =>
  boundedNumber(expected, min, max).int(expected);

export const flagWithDefault = (fallback: boolean) => z.boolean({ error: 'true or false' }).default(fallback);

export const shareOfOne = (expected: string) => boundedNumber(`${expected} from 0 to 1`, 0, 1);

export const arrayOf = <T extends z.ZodType>(of: T, expected: string) => z.array(of, { error: expected });

export const strictObject = <T extends z.core.$ZodShape>(shape: T) => {
  const expected = `an object with ${Object.keys(shape).join(', ')}`;
  return z.strictObject(shape, { error: expected });
};

export const oneOfTexts = <const T extends readonly string[]>(values: T) =>
  z.enum(values, { error: `one of ${values.join(', ')}` });

export const functionOf = <T>(expected: string) =>
  z.custom<T>((value) => typeof value === 'function', { error: expected });

/** An optional member that is null where it is unset. */
export const orNull = <T extends z.ZodType>(shape: T) =>
  shape.optional().transform((value): NonNullable<z.output<T>> | null => value ?? null);

/** How much a release may differ from the one before. */
export const ChecksShape = strictObject({
  lost_records: shareOfOne('a share').default(0.02).describe('Share of the records that may be missing.'),
  lost_values: shareOfOne('a share').default(0.2).describe('Share of the values of an attribute that may be missing.'),
  changed_values: shareOfOne('a share').default(0.5).describe('Share of its values that may change in one `revision`.'),
  gone_records: shareOfOne('a share').default(0.2).describe('Share of the records that may newly be `gone`.'),
})
  .default({ lost_records: 0.02, lost_values: 0.2, changed_values: 0.5, gone_records: 0.2 })
  .describe(
    'A release that differs by more from the one before is refused (`1`: never), unless a nightly run has `--accept`. ' +
      'Shares count from 200 records or values on; of 20 to 199 the loss of all of them is refused.',
  );
