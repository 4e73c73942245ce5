// What the operations on accounts share: the port, the body of a request, and how a key is shown.
import { z } from 'zod';
import type { Account, Accounts, Asker } from '../../data/accounts.ts';
import { DataError, type ValidationIssue } from '../../data/errors.ts';
import { eur } from '../../packs/money.ts';
import type { Context } from '../operation.ts';
import { aboutRegister } from './about.ts';

/** The accounts and who asks; only the nightly build has neither, and it runs no such operation. */
export function accountsOf(ctx: Context): { accounts: Accounts; asker: Asker } {
  if (!ctx.accounts || !ctx.asker) throw new DataError('unavailable', 'There are no accounts here.');
  return { accounts: ctx.accounts, asker: ctx.asker };
}

/** Reads the body of a request, or refuses it with a 422 line for each thing that is wrong. */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  const issues: ValidationIssue[] = parsed.error.issues.map(({ path, message, code }) => ({
    loc: ['body', ...path.map((part) => (typeof part === 'number' ? part : String(part)))],
    msg: message,
    type: code,
  }));
  const [first] = issues;
  const message = `${first?.loc.slice(1).join('.') || 'body'}: ${first?.msg ?? 'is wrong'}`;
  throw new DataError('validation_failed', message, issues);
}

/** A whole number of micro-euros out of EUR with at most six decimals. */
export function microsOf(amount_eur: number): number {
  return Math.round(amount_eur * 1_000_000);
}

/** EUR with at most six decimals, between bounds. Infinity and NaN are no JSON, and no number here either. */
export function euros(min: number, max: number) {
  const exact = (value: number) => Math.abs(value * 1_000_000 - Math.round(value * 1_000_000)) < 1e-3;
  return z.number().min(min).max(max).refine(exact, 'must have at most six decimals');
}

/** An e-mail address in a body. */
export const EMAIL = z.email().max(254).describe('E-mail address; one key each');

/** Members of a key that its owner and operators see. */
export function shownAccount({ id, email, plan, balance }: Account) {
  return { id, email, plan, balance_eur: eur(balance) };
}

/** Citation and licence, as every answer has them. */
export const about = (ctx: Context) => aboutRegister(ctx.base_url);

/** Milliseconds as ISO 8601. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** An answer with single values, as Markdown: a list of its members. */
export function listed(title: string, body: object): string {
  const lines = Object.entries(body).map(([name, value]) => `- ${name}: \`${String(value)}\``);
  return `# ${title}\n\n${lines.join('\n')}\n`;
}
