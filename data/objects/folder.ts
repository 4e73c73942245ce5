// Object storage in a folder that several machines mount.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { putInPlace, temporaryPath } from '../model/atomic.ts';
import { MissingObject, type ObjectStorage, StorageError } from './objects.ts';

/** The objects below `root`; the folder must exist, so that a missing mount is not mistaken for empty storage. */
export function folderStorage(root: string): ObjectStorage {
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      await stat(root);
      return await work();
    } catch (error) {
      if (error instanceof StorageError) throw error;
      throw new StorageError(`file://${root}: ${(error as Error).message}`, { cause: error });
    }
  };
  const sizeOf = async (key: string) => (await stat(join(root, key)).catch(missing))?.size ?? null;
  return {
    place: `file://${root}`,
    size: (key) => attempt(() => sizeOf(key)),
    sum: async () => null,
    read: (key, from = 0) =>
      attempt(async () => {
        const file = await open(join(root, key)).catch(missing);
        if (file === null) throw new MissingObject(`file://${root} has no object ${key}`);
        const { size } = await file.stat();
        if (from < size) return file.createReadStream({ start: from });
        await file.close();
        return Readable.from([]);
      }),
    put: (key, { file, sha256 }) =>
      attempt(async () => {
        const path = join(root, key);
        await mkdir(dirname(path), { recursive: true });
        const temporary = temporaryPath(path);
        try {
          if ((await copyHashed(file, temporary)) !== sha256)
            throw new StorageError(`${file} changed while it was stored as ${key}`);
          await putInPlace(temporary, path);
        } finally {
          await rm(temporary, { force: true });
        }
      }),
    remove: (key) => attempt(() => rm(join(root, key), { force: true })),
    empty: () => attempt(async () => (await readdir(root)).length === 0),
    close: () => {},
  };
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** Copies a file and returns its SHA-256 in hex. */
async function copyHashed(from: string, to: string): Promise<string> {
  const digest = createHash('sha256');
  const hashed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      digest.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(createReadStream(from, { highWaterMark: 1 << 20 }), hashed, createWriteStream(to));
  return digest.digest('hex');
}
