// Where files are published to: a folder of this machine, or what rsync can reach.
import type { Listing } from './plan.ts';

/** It can be mended by who runs the command. */
export class PublishError extends Error {}

/** Which folder below holds a file: the published one itself, or the one of compressed copies. */
export type Sources = (path: string) => string;

/** A place to publish to. Every operation may be repeated; what is there already is left as it is. */
export interface Target {
  /** As it was asked for. */
  name: string;
  /** The list that the last upload left there; null where none ever did. */
  read(): Promise<string | null>;
  /** Whether anything at all is there. */
  empty(): Promise<boolean>;
  /** Leaves a list there. */
  write(list: string): Promise<void>;
  /** Puts files there, each whole or not at all; `told` hears how many are done. */
  put(paths: readonly string[], from: Sources, published: Listing, told: (done: number) => void): Promise<void>;
  remove(paths: readonly string[], told: (done: number) => void): Promise<void>;
}

/** Name of the list below the target, beside the notes that hosts are told to hide. */
export const LIST = '.build/published.tsv';

/** As rsync tells them: `rsync://…`, `host::module`, `user@host:path`; anything else is a folder. */
export function isRemote(target: string): boolean {
  return target.startsWith('rsync://') || /^[^/]+:/.test(target);
}
