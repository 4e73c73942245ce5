// A file on the host, read by HTTP ranges of one version of it (RFC 9110 sections 13.1.1 and 14).
import type { AsyncBuffer } from 'hyparquet';

/** The file changed, or is being written again, since its first range was read. */
export class FileChanged extends Error {
  constructor() {
    super('The data was updated.');
  }
}

/** Sends a request; errors of the network have no text of their own. */
const request = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, init).catch(() => {
    throw new Error('The rows could not be downloaded. Check the connection, then retry.');
  });

/** Why a file is not sent, in words for people. */
function refusal(response: Response): Error {
  if (response.status !== 503) return new Error(`The rows could not be downloaded (status ${response.status}).`);
  const seconds = response.headers.get('retry-after');
  const wait = seconds === null ? 'Retry soon.' : `Retry in about ${seconds} seconds.`;
  return new Error(`A record was removed, and the file with the rows is being written again without it. ${wait}`);
}

export class RangeFile implements AsyncBuffer {
  readonly byteLength: number;
  /** Bytes received so far. */
  received = 0;
  readonly #url: string;
  readonly #etag: string | null;
  /** The end of the file, with its metadata. */
  readonly #end: ArrayBuffer;
  /** Called after each range. */
  progress: (received: number) => void = () => {};

  private constructor(url: string, etag: string | null, byteLength: number, end: ArrayBuffer) {
    this.#url = url;
    this.#etag = etag;
    this.byteLength = byteLength;
    this.#end = end;
    this.received = end.byteLength;
  }

  /** Opens the file with its last `footer` bytes; a host without ranges sends all of it. */
  static async open(url: string, footer: number): Promise<RangeFile> {
    const response = await request(url, { headers: { Range: `bytes=-${footer}` }, cache: 'no-cache' });
    if (!response.ok) throw refusal(response);
    const end = await response.arrayBuffer();
    const total = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1];
    return new RangeFile(url, response.headers.get('etag'), Number(total ?? end.byteLength), end);
  }

  async slice(start: number, end = this.byteLength): Promise<ArrayBuffer> {
    const from = this.byteLength - this.#end.byteLength;
    if (start >= from) return this.#end.slice(start - from, end - from);
    const etag = this.#etag;
    const headers: Record<string, string> = { Range: `bytes=${start}-${end - 1}` };
    // If-Match takes strong tags only; a weak one is compared below.
    if (etag !== null && !etag.startsWith('W/')) headers['If-Match'] = etag;
    const response = await request(this.#url, { headers });
    if ([412, 416, 503].includes(response.status) || response.headers.get('etag') !== etag) throw new FileChanged();
    if (!response.ok) throw refusal(response);
    const body = await response.arrayBuffer();
    this.received += body.byteLength;
    this.progress(this.received);
    return response.status === 206 ? body : body.slice(start, end);
  }
}
