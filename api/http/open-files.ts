// File handles of response bodies: closed when the body is read, cancelled or garbage-collected.
import { close, fstat, open, read, type Stats } from 'node:fs';
import { promisify } from 'node:util';

const openDescriptor = promisify(open);
const fstatAsync = promisify(fstat);
const closed = promisify(close);
const filled = promisify(read);

/** Chunk size of reads, and the longest part that is read before its response starts, in bytes. */
const AT_ONCE = 1 << 18;

/**
 * Closes the file of a response body that was dropped: such a body is neither read nor cancelled. Node would
 * close a FileHandle then, but with an error that ends the process.
 */
const dropped = new FinalizationRegistry<[descriptor: number, onClose: () => void]>(([descriptor, onClose]) =>
  close(descriptor, onClose),
);

/** An open file. It stays the same when another file replaces it. */
export class OpenFile {
  readonly #descriptor: number;
  readonly #onClose: () => void;
  #open = true;

  private constructor(descriptor: number, onClose: () => void) {
    this.#descriptor = descriptor;
    this.#onClose = onClose;
    dropped.register(this, [descriptor, onClose], this);
  }

  /** Opens a file. Throws the system's error if there is none. `onClose` is called once after it was opened. */
  static async at(path: string, onClose = () => {}): Promise<OpenFile> {
    return new OpenFile(await openDescriptor(path, 'r'), onClose);
  }

  stat(): Promise<Stats> {
    return fstatAsync(this.#descriptor);
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    dropped.unregister(this);
    await closed(this.#descriptor);
    this.#onClose();
  }

  /**
   * Bytes `start` to `end`, both included, as a response body: short ones at once, long ones as a stream. The
   * file is closed after the last byte, or when the body is dropped.
   */
  async body(start: number, end: number): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>> {
    const length = end - start + 1;
    if (length > AT_ONCE) return this.#stream(start, end);
    try {
      return await this.#part(start, length);
    } finally {
      await this.close();
    }
  }

  #stream(start: number, end: number): ReadableStream<Uint8Array> {
    let at = start;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const part = await this.#part(at, Math.min(AT_ONCE, end - at + 1));
            controller.enqueue(part);
            at += part.length;
            if (at <= end) return;
            await this.close();
            controller.close();
          } catch (error) {
            await this.close();
            throw error;
          }
        },
        cancel: () => this.close(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Reads exactly `length` bytes; throws if the file is shorter, since Content-Length is sent already. */
  async #part(from: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    const part = Buffer.allocUnsafeSlow(length);
    let got = 0;
    while (got < length) {
      const { bytesRead } = await filled(this.#descriptor, part, got, length - got, from + got);
      if (bytesRead === 0) throw new Error(`a file ended ${length - got} bytes before its length`);
      got += bytesRead;
    }
    return part;
  }
}
