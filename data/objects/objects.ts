// Object storage: files by key in a bucket with an S3 interface, or in a shared folder.
import type { Readable } from 'node:stream';

/** A file to store. */
export interface StoredFile {
  /** Path of the file. */
  file: string;
  bytes: number;
  /** SHA-256 in hex. */
  sha256: string;
}

/** Response headers that a bucket sends with an object; `Cache-Control`, `Content-Type` and `Content-Encoding`. */
export type ObjectHeaders = Readonly<Record<string, string>>;

/**
 * A bucket below a prefix, or a folder. Keys are paths with `/`. A method that fails because the storage does
 * not answer throws StorageError.
 */
export interface ObjectStorage {
  /** The address without credentials, for messages. */
  readonly place: string;
  /** Bytes of an object; null when there is none. */
  size(key: string): Promise<number | null>;
  /** SHA-256 of an object that was stored with headers; null without one, or without that note. */
  sum(key: string): Promise<string | null>;
  /** The bytes of an object from position `from` on. Throws MissingObject. */
  read(key: string, from?: number): Promise<Readable>;
  /** Stores a file in one step: readers see the old object, or the whole new one. */
  put(key: string, content: StoredFile, headers?: ObjectHeaders): Promise<void>;
  /** Removes an object, if it exists. */
  remove(key: string): Promise<void>;
  /** Whether there is no object at all. */
  empty(): Promise<boolean>;
  close(): void;
}

/** The storage did not answer, or refused. The message names the storage and the cause. */
export class StorageError extends Error {}

/** There is no object with this key. */
export class MissingObject extends StorageError {}

/** Settings of object storage: S3_ENDPOINT and S3_REGION. Credentials come from the usual chain of the SDK. */
export interface StorageSettings {
  endpoint?: string | undefined;
  region?: string | undefined;
  /** Time limits in milliseconds, for tests. */
  timeouts?: { connection: number; answer: number; upload: number } | undefined;
  /** A local folder for the state of unfinished uploads, so that a killed one continues. */
  scratch: string;
}
