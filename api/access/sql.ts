// The columns and the limits of callers of SQL.
import type { SqlReply } from '../../data/sql/engine.ts';
import type { SqlRunner } from '../../data/sql/process.ts';
import { ApiError, retryOf } from '../contract/errors.ts';
import type { SqlStatement } from '../contract/operation.ts';
import { type Caller, holderOf, mayBulk } from './caller.ts';
import type { Limits } from './limits.ts';

/** Seconds that a statement may run: on public columns, and on all columns with a plan that includes exports. */
export const SQL_SECONDS = { public: 5, all: 20 } as const;

/** Runs a statement of a caller. Throws `rate_limited` when its statements ran too long within a minute. */
export type SqlAccess = (
  statement: SqlStatement,
  caller: Caller,
  address: string,
  signal: AbortSignal,
) => Promise<SqlReply>;

/** Runs statements with the columns of their callers, and counts the time. `onEnded`: a statement ended its process. */
export function sqlAccess(runner: SqlRunner, limits: Limits, onEnded: () => void): SqlAccess {
  return async ({ sources, ...statement }, caller, address, signal) => {
    const tier = mayBulk(caller) ? 'all' : 'public';
    const who = holderOf(caller, address);
    const plan = caller.kind === 'key' ? caller.plan : undefined;
    const spend = (ms: number) => (caller.kind === 'admin' ? null : limits.spend('sql_time', who, plan, ms));
    const spent = await spend(0);
    if (spent !== null && (!spent.allowed || spent.remaining === 0))
      throw new ApiError('rate_limited', `Your statements ran ${spent.limit / 1000} s within a minute.`, {
        retry_after_seconds: spent.reset,
      });
    const query = { ...statement, tier, seconds: SQL_SECONDS[tier], sources: sources(tier) } as const;
    const call = { query, caller: who, alone: tier === 'public', keyed: caller.kind !== 'anonymous' };
    const outcome = await runner.run(call, signal);
    await spend(Math.ceil(outcome.ms));
    if ('answer' in outcome) return { ...outcome.answer, releases: outcome.releases };
    if (outcome.ended) onEnded();
    const { code, message, detail, retry_after_seconds } = outcome.error;
    const retry = retry_after_seconds === undefined ? retryOf(code) : { retry_after_seconds };
    throw new ApiError(code, message, { detail, ...retry });
  };
}
