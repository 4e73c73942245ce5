// Content codings: which one a client takes, and long answers in it.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import { COPY_ENDINGS } from '../discovery/hosting.ts';
import { giveBack, putTogether } from './buffers.ts';
import { isPieces, type Reply } from './respond.ts';

/** The codings of a file's copies, best first. */
export const CODINGS = Object.keys(COPY_ENDINGS) as Coding[];
export type Coding = keyof typeof COPY_ENDINGS;

/** Shorter answers fit in the packets that a connection begins with (RFC 6928), so that fewer bytes would not come earlier. */
const FROM = 8_192;
/** What of our answers is text. An event stream is sent as it comes. */
const TEXT = /^(?:text\/(?!event-stream)|application\/(?:[\w.]+\+)?(?:json|xml|x-ndjson)|image\/svg)/;
/** Made while somebody waits: 96 kB of records become 6.4 kB in 0.3 ms. Brotli of the same length takes twice as long, most of it to begin. */
const QUICK = { level: 2 };

const gzipped = promisify(gzip);

/** The second argument decides between codings of the same weight; the types do not know it yet. */
interface Encodings {
  encoding(available: string[], options: { preferred: string[] }): string | undefined;
}

/** What was chosen for the headers that came last: most clients send one of a few. */
const chosen = new Map<string, Coding | null>();

/** The best of `available` that an `Accept-Encoding` header takes; null: the content as it is (RFC 9110 section 12.5.3). */
export function codingFor(header: string | undefined, available: readonly Coding[] = CODINGS): Coding | null {
  if (header === undefined || available.length === 0) return null;
  const key = `${available.join()} ${header}`;
  let coding = chosen.get(key);
  if (coding === undefined) {
    const asked: Encodings = new Negotiator({ headers: { 'accept-encoding': header } });
    const best = asked.encoding([...available, 'identity'], { preferred: [...available] });
    coding = CODINGS.find((each) => each === best) ?? null;
    if (chosen.size >= 100) chosen.clear();
    chosen.set(key, coding);
  }
  return coding;
}

/** Whether an `Accept-Encoding` header takes the coding that `encoded` has. */
export const takesGzip = (accepts: string | undefined): boolean => codingFor(accepts, ['gzip']) !== null;

/** `Vary` of an address whose answers come in codings, on every answer and on 304 too (RFC 9110 section 15.4.5): a cache must not mix them up. */
export function varied(vary?: string): string {
  if (vary === undefined) return 'Accept-Encoding';
  return vary.includes('Accept-Encoding') ? vary : `${vary}, Accept-Encoding`;
}

/**
 * A reply whose long text is in gzip where its client takes that. Its tag is weak, so it stays. A page that nobody may store stays as it is: one that
 * shows a secret beside what its asker sent would tell it by its length.
 */
export function encoded(reply: Reply, accepts: string | undefined): Reply | Promise<Reply> {
  const { status, headers, body } = reply;
  if (accepts === undefined || body === null || status !== 200 || !isLong(body)) return reply;
  const type = headers['Content-Type'] ?? headers['content-type'] ?? '';
  if (!TEXT.test(type) || (type.startsWith('text/html') && /no-store/.test(headers['Cache-Control'] ?? '')))
    return reply;
  headers['Vary'] = varied(headers['Vary']);
  if (!takesGzip(accepts)) return reply;
  if (!(body instanceof ReadableStream)) return pressed(reply, body);
  headers['Content-Encoding'] = 'gzip';
  return { status, headers, body: body.pipeThrough(new CompressionStream('gzip') as Flow) };
}

type Flow = ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array>;
type Whole = Exclude<Reply['body'], null | ReadableStream>;

function isLong(body: Exclude<Reply['body'], null>): boolean {
  if (body instanceof ReadableStream) return true;
  if (!isPieces(body)) return body.length >= FROM;
  let length = 0;
  for (const piece of body) length += piece.length;
  return length >= FROM;
}

async function pressed({ status, headers }: Reply, body: Whole): Promise<Reply> {
  // What the pieces lie in may be gone when the compressor comes to them, so they are put together first.
  const whole = isPieces(body) ? putTogether(body) : Buffer.from(body as string);
  const small = await gzipped(whole, QUICK);
  if (isPieces(body)) giveBack(whole as Buffer<ArrayBuffer>);
  headers['Content-Encoding'] = 'gzip';
  return { status, headers, body: small };
}
