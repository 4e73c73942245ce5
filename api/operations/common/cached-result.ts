// Answers computed from many records: a cached answer is serialised as JSON once.
import { memoize } from '../../../data/releases/answers.ts';
import { type Context, jsonResult, type Result } from '../../contract/operation.ts';
import { type About, aboutDataset, releaseOf } from './about.ts';

/** `answer` with citation and licence. */
export function cachedResult<T extends object>(answer: T, ctx: Context): Result<T & About> {
  const body = () => ({ ...answer, ...aboutDataset(releaseOf(ctx).pack, ctx.base_url) });
  if (ctx.format !== 'json') return { body: body() };
  return jsonResult([memoize(answer, ctx.base_url, () => Buffer.from(JSON.stringify(body())))], {});
}
