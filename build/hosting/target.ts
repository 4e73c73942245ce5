// Publishing targets: a folder of this machine, or a bucket.
import type { FileEntries } from './plan.ts';

/** An error that the user of the command can correct. */
export class PublishError extends Error {}

/** The folder that contains a file: the published one, or the one of compressed copies. */
export type Sources = (path: string) => string;

/** A publishing target. Every operation is idempotent and leaves existing equal files alone. */
export interface PublishTarget {
  /** The target as the user wrote it. */
  name: string;
  /** Reads the list that the last upload wrote; null when there is none. */
  read(): Promise<string | null>;
  /** Whether the target is empty. */
  empty(): Promise<boolean>;
  /** Writes the list. */
  write(list: string): Promise<void>;
  /** Sends files, each atomically; `onProgress` receives the number of finished files. */
  put(
    paths: readonly string[],
    from: Sources,
    published: FileEntries,
    onProgress: (done: number) => void,
  ): Promise<void>;
  remove(paths: readonly string[], onProgress: (done: number) => void): Promise<void>;
  /** Ends its connections; absent: it has none. */
  close?(): void;
}

/** Path of the list on the target, in the folder that hosts are configured to hide. */
export const LIST = '.build/published.tsv';
