// Parts of the shapes of pack.ts. Every message completes the sentence "expected …".
import { z } from 'zod';

export const requiredText = (expected: string) => z.string({ error: expected }).trim().min(1, expected);

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
  z.custom<T>((given) => typeof given === 'function', { error: expected });
