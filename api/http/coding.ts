// Content codings: chooses one by Accept-Encoding, and compresses long responses.
import Negotiator from 'negotiator';
import { type Awaitable, whenReady } from '../../data/model/awaitable.ts';
import { COPY_ENDINGS } from '../discovery/hosting.ts';
import { acquireBuffer, releaseBuffer } from './buffers.ts';
import { deflatePiece, type GzipPiece, gzipOf, storedPiece } from './gzip.ts';
import { isPieces, type Reply } from './respond.ts';

/** Codings of precompressed files, preferred ones first. */
export const CODINGS = Object.keys(COPY_ENDINGS) as Coding[];
export type Coding = keyof typeof COPY_ENDINGS;

/**
 * Minimum length to compress, in bytes: shorter responses fit in a connection's first packets (RFC 6928), so
 * they would not arrive earlier.
 */
const FROM = 8_192;
/**
 * A text of this length is compressed on its own, as one that is a quarter of its response. Shorter ones, such as
 * records, have much in common with what precedes them, and are compressed together. 32 KiB: the window of deflate.
 */
const ALONE = { bytes: 32_768, share: 1 / 4 };
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

/** Cached choices by header: most clients send one of a few. */
const chosen = new Map<string, Coding | null>();

/**
 * The best coding of `available` for an `Accept-Encoding` header; null: uncompressed (RFC 9110 section
 * 12.5.3).
 */
export function codingFor(header: string | undefined, available: readonly Coding[] = CODINGS): Coding | null {
  if (header === undefined || available.length === 0) return null;
  const key = `${available.join()} ${header}`;
  let coding = chosen.get(key);
  if (coding === undefined) {
    const negotiator: Encodings = new Negotiator({ headers: { 'accept-encoding': header } });
    const best = negotiator.encoding([...available, 'identity'], { preferred: [...available] });
    coding = CODINGS.find((each) => each === best) ?? null;
    if (chosen.size >= 100) chosen.clear();
    chosen.set(key, coding);
  }
  return coding;
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
export function compressReply(reply: Reply, accepts: string | undefined): Reply | Promise<Reply> {
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

function gzipReply({ status, headers }: Reply, body: FullBody): Awaitable<Reply> {
  const pieces = compressPieces(isPieces(body) ? body : [typeof body === 'string' ? Buffer.from(body) : body]);
  const ready = pieces.some((piece) => piece instanceof Promise) ? Promise.all(pieces) : (pieces as GzipPiece[]);
  return whenReady(ready, (all) => {
    headers['Content-Encoding'] = 'gzip';
    return { status, headers, body: gzipOf(all) };
  });
}

/** Long texts are compressed on their own, and short ones together. */
function compressPieces(texts: readonly Uint8Array[]): Awaitable<GzipPiece>[] {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const alone = Math.max(FROM, Math.min(ALONE.bytes, ALONE.share * length));
  const pieces: Awaitable<GzipPiece>[] = [];
  let short: Uint8Array[] = [];
  const endShort = () => {
    if (short.length > 0) pieces.push(compressTogether(short));
    short = [];
  };
  for (const text of texts) {
    if (text.length < alone) short.push(text);
    else {
      endShort();
      pieces.push(compressOnce(text));
    }
  }
  endShort();
  return pieces;
}

function compressTogether(texts: readonly Uint8Array[]): Awaitable<GzipPiece> {
  const content = acquireBuffer(texts);
  if (content.length >= FROM) return deflatePiece(content, LEVEL).finally(() => releaseBuffer(content));
  const piece = storedPiece(content);
  releaseBuffer(content);
  return piece;
}

/** Compressed texts, as long as the texts are in memory: answers of repeated calls are. */
const compressed = new WeakMap<Uint8Array, Awaitable<GzipPiece>>();

function compressOnce(text: Uint8Array): Awaitable<GzipPiece> {
  const known = compressed.get(text);
  if (known !== undefined) return known;
  const pending = deflatePiece(text, LEVEL).then(
    (piece) => {
      compressed.set(text, piece);
      return piece;
    },
    (error) => {
      compressed.delete(text);
      throw error;
    },
  );
  compressed.set(text, pending);
  return pending;
}
