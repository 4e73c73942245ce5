// Open files on their way to a client: whoever opens one must read, cancel or close it, and what nobody does is done for them.
import { close, fstat, open, read, type Stats } from 'node:fs';
import { promisify } from 'node:util';

const opened = promisify(open);
const told = promisify(fstat);
const closed = promisify(close);
const filled = promisify(read);

/** Most bytes that are read at once, and the longest part that is read before its answer begins. */
const AT_ONCE = 1 << 18;

/**
 * Closes what was opened for an answer that nobody read: a body that is dropped is neither read nor cancelled. A FileHandle would be closed then
 * too, but by an error that ends the process.
 */
const dropped = new FinalizationRegistry<number>((descriptor) => close(descriptor, () => {}));

/** A file as it was when it was opened, whatever is put in its place meanwhile. */
export class OpenFile {
  readonly #descriptor: number;
  #open = true;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
    dropped.register(this, descriptor, this);
  }

  /** Opens a file to read it. Throws what the system says of one that is not there. */
  static async at(path: string): Promise<OpenFile> {
    return new OpenFile(await opened(path, 'r'));
  }

  stat(): Promise<Stats> {
    return told(this.#descriptor);
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    dropped.unregister(this);
    await closed(this.#descriptor);
  }

  /**
   * Bytes `start` to `end`, both included, as the body of an answer: short ones at once, long ones as they are read. The file is closed when they are
   * sent, or nobody reads them any more.
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

  /** Exactly so many bytes; throws where the file ends before, since its length is on its way already. */
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
