// A file on the host, read by HTTP ranges of one version of it (RFC 9110 sections 13.1.1 and 14).
import type { AsyncBuffer } from 'hyparquet';

/** The file changed, or is being written again, since its first range was read. */
export class FileChanged extends Error {
  constructor() {
    super('The data was updated.');
  }
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
    const response = await fetch(url, { headers: { Range: `bytes=-${footer}` }, cache: 'no-cache' });
    if (response.status === 503) throw new FileChanged();
    if (!response.ok) throw new Error(`${url}: status ${response.status}`);
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
    const response = await fetch(this.#url, { headers });
    if ([412, 416, 503].includes(response.status) || response.headers.get('etag') !== etag) throw new FileChanged();
    if (!response.ok) throw new Error(`${this.#url}: status ${response.status}`);
    const body = await response.arrayBuffer();
    this.received += body.byteLength;
    this.progress(this.received);
    return response.status === 206 ? body : body.slice(start, end);
  }
}
