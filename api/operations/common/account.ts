// Shared by the operations on accounts: the port, the body of a request, and the members of a key.

import { z } from 'zod';
import type { Account } from '../../../data/model/accounts.ts';
import { DataError, type ValidationIssue, validationError } from '../../../data/model/errors.ts';
import type { RawInput } from '../../../data/plan/plan.ts';
import { eur } from '../../../packs/define/money.ts';
import type { Context, LiveService } from '../../contract/operation.ts';
import { aboutRegister } from './about.ts';
import { NO_PARAMETERS } from './inputs.ts';

/** Members that every operation on keys has: it is personal, and no tool, because a model must not manage keys. */
export const KEY_OPERATION = {
  rest: { personal: true },
  charge: { key_only: true },
  docs: { group: 'account' },
  formats: ['json', 'markdown'],
} as const;

/** What changes accounts; only the nightly build has none, and it runs no such operation. */
export function serviceOf({ service }: Context): LiveService {
  if (!service) throw new DataError('unavailable', 'There are no accounts here.');
  return service;
}

/**
 * Schema and parser of an operation whose input is the JSON body of the request. A message about a missing
 * member shows `example`.
 */
export function bodyInput<T>(schema: z.ZodType<T>, example?: Record<string, unknown>) {
  return {
    input: () => schema,
    parse: (raw: RawInput, { body }: Context): T => {
      // A query parameter would be ignored.
      NO_PARAMETERS.parse(raw, null);
      return parseBody(schema, body, example);
    },
  };
}

/** The arguments of a call by name as the body of a request; the member `name` is sent as JSON. */
export function parseJsonMember({ format: _, ...members }: RawInput, name: string): Record<string, unknown> {
  if (members[name] === undefined) return members;
  try {
    return { ...members, [name]: JSON.parse(String(members[name])) as unknown };
  } catch {
    throw validationError(name, 'must be an object or a list', 'value_type');
  }
}

/**
 * Parses the body of a request, or throws a 422 with a line for each issue; for missing members the message
 * has an example.
 */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown, example?: Record<string, unknown>): T {
  const parsed = schema.safeParse(body ?? {}, { reportInput: true });
  if (parsed.success) return parsed.data;
  const issues: ValidationIssue[] = parsed.error.issues.map((issue) => ({
    loc: ['body', ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))],
    msg: issueMessage(issue, example),
    type: issue.code,
  }));
  const [first] = issues;
  const message = `${first?.loc.slice(1).join('.') || 'body'}: ${first?.msg ?? 'is wrong'}`;
  throw new DataError('validation_failed', message, issues);
}

const KINDS: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  object: 'an object',
  record: 'an object',
};

/** The message of an issue for a client that does not know the schema. */
function issueMessage(issue: z.core.$ZodIssue, example?: Record<string, unknown>): string {
  const { code, message } = issue;
  if (issue.input === undefined && issue.path.length > 0 && code !== 'custom')
    return `is required${example ? `; send ${JSON.stringify(example)}` : ''}`;
  if (code === 'invalid_type') return `must be ${KINDS[issue.expected] ?? `of type ${issue.expected}`}`;
  if (code === 'invalid_format' && issue.format === 'email') return 'must be an e-mail address';
  if (code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  const unit = 'origin' in issue && issue.origin === 'string' ? ' characters' : '';
  // For texts and lists the bound is a length.
  if (code === 'too_small' && issue.minimum === 1 && ['string', 'array'].includes(issue.origin))
    return 'must not be empty';
  if (code === 'too_small') return `must be at least ${issue.minimum}${unit}`;
  if (code === 'too_big') return `must be at most ${issue.maximum}${unit}`;
  return message;
}

/** Converts EUR with at most six decimals to whole micro-euros. */
export function microsOf(amount_eur: number): number {
  return Math.round(amount_eur * 1_000_000);
}

/** EUR with at most six decimals, between bounds. Infinity and NaN are refused, as in JSON. */
export function euros(min: number, max: number) {
  const exact = (value: number) => Math.abs(value * 1_000_000 - Math.round(value * 1_000_000)) < 1e-3;
  return z.number().min(min).max(max).refine(exact, 'must have at most six decimals');
}

/** An e-mail address in a body. */
export const EMAIL = z.email().max(254).describe('E-mail address; one key each');

/** Members of a key that its owner and operators see. */
export function accountMembers({ id, email, plan, balance }: Account) {
  return { id, email: email === '' ? null : email, plan, balance_eur: eur(balance) };
}

/** Citation and licence, as in every answer. */
export const about = (ctx: Context) => aboutRegister(ctx.base_url);

/** Milliseconds as ISO 8601. */
export const isoMilliseconds = (ms: number): string => new Date(ms).toISOString();

/** An answer with single values as Markdown: a list of its members. */
export function memberList(title: string, body: object): string {
  const lines = Object.entries(body).map(([name, value]) => `- ${name}: \`${String(value)}\``);
  return `# ${title}\n\n${lines.join('\n')}\n`;
}
