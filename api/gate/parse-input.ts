// Parses the input of an operation. The error for a parameter of another operation names that operation.
import { hasPlace } from '../../data/input/filters.ts';
import { nearReference } from '../../data/input/places.ts';
import { recordPoint } from '../../data/queries/record-point.ts';
import { ApiError, UnknownParameter } from '../contract/errors.ts';
import { acceptedParameters, type Context, type Operation } from '../contract/operation.ts';

/** Most operations that a message lists. */
const LISTED = 3;

type Raw = Parameters<Operation['parse']>[0];

/**
 * `operation.parse`, with an error for an unknown parameter that fits the channel. A record that `near` names is looked
 * up first.
 */
export async function parseInput(operation: Operation, raw: Raw, ctx: Context): Promise<unknown> {
  const { release, leaseOther } = ctx;
  const near = raw['near'];
  if (typeof near === 'string' && release && leaseOther && hasPlace(release.pack)) {
    const reference = acceptedParameters(operation).names.includes('near') ? nearReference(near) : null;
    if (reference !== null) ctx.point = await recordPoint(reference.ref, release, leaseOther, ctx);
  }
  try {
    return await withDistinctIds(operation.parse(raw, ctx), ctx);
  } catch (error) {
    throw error instanceof UnknownParameter ? unknownParameterError(error, operation, ctx) : error;
  }
}

/** The input with each record once in `ids`, by whichever of its names comes first: it is answered and charged once. */
async function withDistinctIds(input: unknown, ctx: Context): Promise<unknown> {
  const { ids } = (input ?? {}) as { ids?: string[] };
  if (ids === undefined || ids.length < 2 || ctx.release === undefined) return input;
  const lower = ids.map((id) => id.toLowerCase());
  const ordinals = await ctx.release.engine.resolve(lower, ctx);
  const distinct = ids.filter((_, at) => ordinals[at] === null || ordinals.indexOf(ordinals[at]!) === at);
  return { ...(input as object), ids: distinct };
}

function unknownParameterError(
  error: UnknownParameter,
  operation: Operation,
  ctx: Context,
): ApiError | UnknownParameter {
  const { filters, names } = acceptedParameters(operation);
  const others = error.suggestion === null ? otherOperations(error.parameter, operation, ctx) : null;
  const message = others === null ? error.message : `${error.problem} ${others}`;
  if (filters) return new ApiError('unknown_filter', message);
  const takes = names.length === 0 ? 'no parameters' : names.join(', ');
  return new ApiError('unknown_filter', message, { alternative_action: `${operation.name} takes ${takes}.` });
}

/**
 * `as_of is a parameter of entity_get (GET /v1/{ds}/entities/{entity_id}).`; null when no operation has it.
 */
function otherOperations(
  parameter: string,
  operation: Operation,
  { register: { operations }, by_name }: Context,
): string | null {
  const others = operations.filter(
    (other) => other !== operation && !other.rest.personal && acceptedParameters(other).names.includes(parameter),
  );
  if (others.length === 0) return null;
  const names = others.slice(0, LISTED).map(({ name, rest }) => {
    const path = rest.path.replaceAll(/:(\w+)/g, '{$1}');
    return by_name === true ? name : `${name} (${rest.method} ${path})`;
  });
  return `"${parameter}" is a parameter of ${names.join(', ')}${others.length > LISTED ? ', …' : ''}.`;
}
