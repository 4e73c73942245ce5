// Object storage in a bucket with an S3 interface. Large files are sent in parts; a killed upload continues
// with the first missing part.
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { z } from 'zod';
import { replaceFile } from '../model/atomic.ts';
import {
  MissingObject,
  type ObjectHeaders,
  type ObjectStorage,
  StorageError,
  type StorageSettings,
  type StoredFile,
} from './objects.ts';

/** Bytes of a part. S3 takes at most 10,000 parts, so longer files get larger parts. */
const PART = 8 << 20;
const MOST_PARTS = 10_000;

/**
 * Milliseconds until a connection, the beginning of an answer (to an upload: with the upload) or the next bytes
 * must come; the SDK then tries again, twice.
 */
const TIMEOUTS = { connection: 5_000, answer: 10_000, upload: 60_000 };

export interface BucketSettings extends StorageSettings {
  bucket: string;
  /** Keys begin with it; empty: none. */
  prefix: string;
}

/** The state of an unfinished upload in parts, on the local disk. */
const Upload = z.object({
  id: z.string(),
  sha256: z.string(),
  /** Entity tags of the sent parts, in order. */
  tags: z.array(z.string()),
});
type UploadState = z.infer<typeof Upload>;

/** Opens a bucket; it must exist. */
export function bucketStorage(settings: BucketSettings): ObjectStorage {
  return new Bucket(settings);
}

class Bucket implements ObjectStorage {
  readonly place: string;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #scratch: string;
  /** Options of a request with a body of up to PART bytes. */
  readonly #uploading: { requestTimeout: number };

  constructor({ bucket, prefix, endpoint, region, scratch, timeouts = TIMEOUTS }: BucketSettings) {
    this.place = `s3://${[bucket, prefix].filter(Boolean).join('/')}`;
    this.#bucket = bucket;
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    this.#scratch = scratch;
    this.#uploading = { requestTimeout: timeouts.upload };
    this.#client = new S3Client({
      // Other servers than Amazon's seldom have a host name for each bucket, nor checksums at the end of a body.
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true, region: 'us-east-1' }),
      // Without either, the SDK reads the region from its own settings.
      ...(region === undefined ? {} : { region }),
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: timeouts.connection,
        requestTimeout: timeouts.answer,
        socketTimeout: timeouts.answer,
        // Without it, a request that takes longer only logs a warning.
        throwOnRequestTimeout: true,
      },
    });
  }

  size(key: string): Promise<number | null> {
    return this.#attempt(async () => {
      try {
        const { ContentLength } = await this.#client.send(new HeadObjectCommand(this.#at(key)));
        return ContentLength ?? null;
      } catch (error) {
        if (statusOf(error) === 404) return null;
        throw error;
      }
    });
  }

  sum(key: string): Promise<string | null> {
    return this.#attempt(async () => {
      try {
        const { Metadata } = await this.#client.send(new HeadObjectCommand(this.#at(key)));
        return Metadata?.['sha256'] ?? null;
      } catch (error) {
        if (statusOf(error) === 404) return null;
        throw error;
      }
    });
  }

  read(key: string, from = 0): Promise<Readable> {
    return this.#attempt(async () => {
      const range = from === 0 ? {} : { Range: `bytes=${from}-` };
      try {
        const { Body } = await this.#client.send(new GetObjectCommand({ ...this.#at(key), ...range }));
        return Body as Readable;
      } catch (error) {
        if ((error as Error).name !== 'NoSuchKey') throw error;
        throw new MissingObject(`${this.place} has no object ${key}`, { cause: error });
      }
    });
  }

  put(key: string, content: StoredFile, headers: ObjectHeaders = {}): Promise<void> {
    return this.#attempt(async () => {
      const file = await open(content.file);
      try {
        if (content.bytes <= PART) await this.#putWhole(key, file, content, headers);
        else await this.#putParts(key, file, content, headers);
      } finally {
        await file.close();
      }
    });
  }

  remove(key: string): Promise<void> {
    return this.#attempt(async () => {
      await this.#client.send(new DeleteObjectCommand(this.#at(key)));
    });
  }

  empty(): Promise<boolean> {
    return this.#attempt(async () => {
      const at = { Bucket: this.#bucket, Prefix: this.#prefix };
      const { KeyCount } = await this.#client.send(new ListObjectsV2Command({ ...at, MaxKeys: 1 }));
      return (KeyCount ?? 0) === 0;
    });
  }

  close(): void {
    this.#client.destroy();
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${key}` };
  }

  async #putWhole(key: string, file: FileHandle, { bytes, sha256, file: path }: StoredFile, headers: ObjectHeaders) {
    const body = await readAt(file, 0, bytes);
    const digest = createHash('sha256').update(body).digest();
    if (digest.toString('hex') !== sha256) throw new StorageError(`${path} changed while it was stored as ${key}`);
    const sum = { ChecksumSHA256: digest.toString('base64') };
    const put = new PutObjectCommand({ ...this.#at(key), ...headersOf(headers), ...sum, Body: body });
    await this.#client.send(put, this.#uploading);
  }

  /** Sends the parts that the last try did not send. Hashes the whole file on the way. */
  async #putParts(key: string, file: FileHandle, content: StoredFile, headers: ObjectHeaders): Promise<void> {
    const note = join(this.#scratch, `${createHash('sha256').update(`${this.place}/${key}`).digest('hex')}.json`);
    const about = { ...this.#at(key), ...headersOf(headers) };
    const before = await readState(note, content.sha256);
    const upload = before ?? { id: await this.#begin(about), sha256: content.sha256, tags: [] };
    const step = Math.max(PART, Math.ceil(content.bytes / MOST_PARTS));
    const whole = createHash('sha256');
    try {
      for (let from = 0, part = 1; from < content.bytes; from += step, part += 1) {
        const body = await readAt(file, from, Math.min(step, content.bytes - from));
        whole.update(body);
        if (upload.tags.length >= part) continue;
        upload.tags.push(await this.#sendPart(key, upload.id, part, body));
        await mkdir(this.#scratch, { recursive: true });
        await replaceFile(note, JSON.stringify(upload));
      }
      if (whole.digest('hex') !== content.sha256)
        throw new StorageError(`${content.file} changed while it was stored as ${key}`);
      const Parts = upload.tags.map((tag, i) => ({ ...partOf(tag), PartNumber: i + 1 }));
      const done = { ...this.#at(key), UploadId: upload.id, MultipartUpload: { Parts } };
      await this.#client.send(new CompleteMultipartUploadCommand(done), this.#uploading);
      const stored = (await this.#client.send(new HeadObjectCommand(this.#at(key)))).ContentLength;
      if (stored !== content.bytes)
        throw new StorageError(`${key} has ${stored} bytes after its upload (expected ${content.bytes})`);
    } catch (error) {
      // An upload that the storage rejects, such as one that it has removed meanwhile, begins anew.
      if (error instanceof StorageError || (statusOf(error) ?? 500) < 500) await rm(note, { force: true });
      throw error;
    }
    await rm(note, { force: true });
  }

  async #begin(about: ObjectFields & { Bucket: string; Key: string }): Promise<string> {
    const { UploadId } = await this.#client.send(
      new CreateMultipartUploadCommand({ ...about, ChecksumAlgorithm: 'SHA256' }),
    );
    if (UploadId === undefined) throw new StorageError(`${this.place} began no upload of ${about.Key}`);
    return UploadId;
  }

  async #sendPart(key: string, id: string, part: number, body: Buffer): Promise<string> {
    const sum = createHash('sha256').update(body).digest('base64');
    const { ETag } = await this.#client.send(
      new UploadPartCommand({ ...this.#at(key), UploadId: id, PartNumber: part, Body: body, ChecksumSHA256: sum }),
      this.#uploading,
    );
    return `${ETag} ${sum}`;
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StorageError) throw error;
      const [{ name, message }] = error instanceof AggregateError ? error.errors : [error];
      const status = statusOf(error);
      const answered = status === undefined ? 'does not answer' : `answered ${status}`;
      throw new StorageError(`${this.place} ${answered}: ${name}: ${message}`, { cause: error });
    }
  }
}

/** Entity tag and checksum of a sent part. */
function partOf(text: string): { ETag: string; ChecksumSHA256: string } {
  const [tag = '', sum = ''] = text.split(' ');
  return { ETag: tag, ChecksumSHA256: sum };
}

/** HTTP status of an error of the SDK; undefined when there was no answer. */
const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;

async function readState(note: string, sha256: string): Promise<UploadState | null> {
  try {
    const state = Upload.parse(JSON.parse(await readFile(note, 'utf8')));
    return state.sha256 === sha256 ? state : null;
  } catch {
    return null;
  }
}

/** Reads `bytes` bytes of a file from `from` on; less at its end. */
async function readAt(file: FileHandle, from: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(bytes), 0, bytes, from);
  return buffer.subarray(0, bytesRead);
}

/** Headers that S3 stores by name; all others are metadata of the user. */
const NAMED = {
  'Content-Type': 'ContentType',
  'Content-Encoding': 'ContentEncoding',
  'Content-Disposition': 'ContentDisposition',
  'Content-Language': 'ContentLanguage',
  'Cache-Control': 'CacheControl',
} as const;

type ObjectFields = { [field in (typeof NAMED)[keyof typeof NAMED]]?: string } & { Metadata?: Record<string, string> };

const isNamed = (name: string): name is keyof typeof NAMED => name in NAMED;

function headersOf(headers: ObjectHeaders): ObjectFields {
  const fields: ObjectFields = {};
  for (const [name, value] of Object.entries(headers)) {
    if (isNamed(name)) fields[NAMED[name]] = value;
    else fields.Metadata = { ...fields.Metadata, [name.toLowerCase()]: value };
  }
  return fields;
}
