// Content codings: chooses one by Accept-Encoding, and compresses long responses.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import { derive } from '../../packs/define/derive.ts';
import { COPY_ENDINGS } from '../discovery/hosting.ts';
import { isPieces, type Reply } from './respond.ts';

const gzipText = promisify(gzip);

/** Codings of precompressed files, preferred ones first. */
export const CODINGS = Object.keys(COPY_ENDINGS) as Coding[];
export type Coding = keyof typeof COPY_ENDINGS;

/**
 * Minimum length to compress, in bytes: shorter responses fit in a connection's first packets (RFC 6928), so
 * they would not arrive earlier.
 */
const FROM = 8_192;
/** Content types of text. Event streams are not compressed. */
const TEXT = /^(?:text\/(?!event-stream)|application\/(?:[\w.]+\+)?(?:json|xml|x-ndjson)|image\/svg)/;
/**
 * Compressed while the client waits: 96 kB of records become 6.4 kB in 0.3 ms. Brotli of the same length
 * takes twice as long, mostly for its setup.
 */
const LEVEL = 2;

/** The second argument orders codings of equal weight; the package's types lack it. */
interface Encodings {
  encoding(available: string[], options: { preferred: string[] }): string | undefined;
}

/**
 * The best coding of `available` for an `Accept-Encoding` header; null: uncompressed (RFC 9110 section
 * 12.5.3).
 */
export function codingFor(header: string | undefined, available: readonly Coding[] = CODINGS): Coding | null {
  if (header === undefined || available.length === 0) return null;
  const negotiator: Encodings = new Negotiator({ headers: { 'accept-encoding': header } });
  const best = negotiator.encoding([...available, 'identity'], { preferred: [...available] });
  return CODINGS.find((coding) => coding === best) ?? null;
}

/** Whether an `Accept-Encoding` header accepts gzip, the coding of `compressReply`. */
export const takesGzip = (accepts: string | undefined): boolean => codingFor(accepts, ['gzip']) !== null;

/**
 * `Vary` of an address whose responses may be compressed, also for 304 (RFC 9110 section 15.4.5): caches need
 * it to keep the codings apart.
 */
export function varyHeader(vary?: string): string {
  if (vary === undefined) return 'Accept-Encoding';
  return vary.includes('Accept-Encoding') ? vary : `${vary}, Accept-Encoding`;
}

/**
 * Compresses long texts with gzip if the client accepts it. Tags are weak, so they stay the same. A no-store
 * page is not compressed: if it contains a secret and input of the client, its length would reveal the secret
 * (BREACH).
 */
export async function compressReply(reply: Reply, accepts: string | undefined): Promise<Reply> {
  const { status, headers, body } = reply;
  if (accepts === undefined || body === null || status !== 200 || !isLong(body)) return reply;
  const type = headers['Content-Type'] ?? headers['content-type'] ?? '';
  if (!TEXT.test(type) || (type.startsWith('text/html') && /no-store/.test(headers['Cache-Control'] ?? '')))
    return reply;
  headers['Vary'] = varyHeader(headers['Vary']);
  if (!takesGzip(accepts)) return reply;
  if (!(body instanceof ReadableStream)) return gzipReply(reply, body);
  headers['Content-Encoding'] = 'gzip';
  return { status, headers, body: body.pipeThrough(new CompressionStream('gzip') as Flow) };
}

type Flow = ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array>;
type FullBody = Exclude<Reply['body'], null | ReadableStream>;

function isLong(body: Exclude<Reply['body'], null>): boolean {
  if (body instanceof ReadableStream) return true;
  if (!isPieces(body)) return body.length >= FROM;
  let length = 0;
  for (const piece of body) length += piece.length;
  return length >= FROM;
}

async function gzipReply({ status, headers }: Reply, body: FullBody): Promise<Reply> {
  const text = isPieces(body) ? Buffer.concat(body) : typeof body === 'string' ? Buffer.from(body) : body;
  const compressed = await derive(text, 'gzip', () => gzipText(text, { level: LEVEL }));
  headers['Content-Encoding'] = 'gzip';
  return { status, headers, body: compressed };
}
