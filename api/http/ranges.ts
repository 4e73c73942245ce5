// Range requests for files (RFC 9110 section 14).
import type { HttpContext } from './request.ts';

/**
 * The requested range: null for the whole file, also if the header is invalid, has several ranges (RFC 9110
 * section 14.2 lets a server ignore it), or `If-Range` does not match; `none` if the range is not
 * satisfiable.
 */
export function parseRange(
  c: HttpContext,
  { bytes, at }: { bytes: number; at: Date },
  tag: string,
): { start: number; end: number } | 'none' | null {
  const condition = c.req.header('if-range')?.trim();
  if (condition !== undefined && condition !== tag && condition !== at.toUTCString()) return null;
  const [, first = '', last = ''] =
    /^bytes *= *(\d{0,15})-(\d{0,15})$/i.exec(c.req.header('range')?.trim() ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first === '')
    return Number(last) === 0 || bytes === 0 ? 'none' : { start: Math.max(0, bytes - Number(last)), end: bytes - 1 };
  if (last !== '' && Number(last) < Number(first)) return null;
  if (Number(first) >= bytes) return 'none';
  return { start: Number(first), end: last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1) };
}
