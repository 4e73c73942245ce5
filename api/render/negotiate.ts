// Content negotiation: the `.md` suffix, then the `format` parameter, then Accept with its quality values.
import Negotiator from 'negotiator';
import { FORMATS, type Format, formatNamed } from '../../data/input/formats.ts';
import { derive } from '../../packs/define/derive.ts';

export interface Choice {
  format: Format;
  /** The header influenced the choice, so caches must distinguish answers by it (`Vary: Accept`). */
  varies: boolean;
}

/**
 * The best of `types` for an Accept header, or undefined when none is acceptable. A malformed header accepts
 * anything.
 */
export function preferred(accept: string | undefined, types: readonly string[]): string | undefined {
  if (accept === undefined || accept.trim() === '') return types[0];
  try {
    // All answers are UTF-8, so a charset parameter has no effect.
    const bare = accept.replace(/;\s*charset\s*=\s*("[^"]*"|[^;,\s]*)/gi, '');
    return new Negotiator({ headers: { accept: bare } }).mediaType(types);
  } catch {
    return types[0];
  }
}

/** Whether an Accept header admits JSON; a missing one does. */
export const acceptsJson = (accept: string | undefined): boolean =>
  preferred(accept, ['application/json']) !== undefined;

/**
 * Chooses among the formats of an operation, best first. When none is acceptable, the first format is used,
 * without an error. `parameter` is the `format` parameter; the parser of the operation refuses an unknown
 * one.
 */
export function negotiate(
  formats: readonly Format[],
  request: { accept?: string | undefined; suffix: boolean; parameter?: string | undefined },
): Choice {
  const fallback = formats[0] ?? 'json';
  if (request.suffix && formats.includes('markdown')) return { format: 'markdown', varies: false };
  const explicit = request.parameter === undefined ? undefined : formatNamed(request.parameter);
  if (explicit !== undefined) return { format: explicit, varies: false };
  if (formats.length < 2) return { format: fallback, varies: false };
  // Media types without their parameters.
  const bare = derive(formats, 'media types', () =>
    formats.map((name) => FORMATS[name].media_type.split(';')[0] ?? ''),
  );
  const best = preferred(request.accept, bare);
  return { format: formats[bare.indexOf(best ?? '')] ?? fallback, varies: true };
}

/** Whether errors are sent as RFC 9457 problem details: only when the client prefers them to plain JSON. */
export function prefersProblem(accept: string | undefined): boolean {
  return preferred(accept, ['application/json', 'application/problem+json']) === 'application/problem+json';
}
