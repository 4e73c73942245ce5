// Answers computed from many records: an answer of an engine is serialised as JSON once.
import { derive } from '../../../packs/define/derive.ts';
import { type Context, jsonResult, type Result } from '../../contract/operation.ts';
import { type About, aboutDataset, releaseOf } from './about.ts';

/** `answer` with citation and licence. */
export function cachedResult<T extends object>(answer: T, ctx: Context): Result<T & About> {
  const body = () => ({ ...answer, ...aboutDataset(releaseOf(ctx).pack, ctx.base_url) });
  if (ctx.format !== 'json') return { body: body() };
  return jsonResult([derive(answer, `JSON at ${ctx.base_url}`, () => Buffer.from(JSON.stringify(body())))], {});
}
