// The folder of static files: writes what changed, keeps what did not, deletes what no longer belongs (docs/static-hosting.md).
import { createHash, hash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fchmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { PUBLIC } from '../../data/model/permissions.ts';
import { type FileEntry, formatManifest, parseManifest } from './publish-manifest.ts';

/** Folders in which every file is ours: after a killed run, what no manifest names there is deleted. */
const OWNED = ['datasets', 'v1', 'assets', 'files', 'sql', 'explore'];

/** The build's own notes, below DIST_DIR; never published and never served. */
export const BUILD_NOTES = '.build';

/** What a run did to the folder. */
export interface OutputCounts {
  written: number;
  unchanged: number;
  deleted: number;
}

/**
 * One run's view of DIST_DIR. Open it, `keep` or `write` every file that belongs, `finish`. A file is named by its path below the folder, with
 * `/`. `key` names what a file was made from: when it is the same as last time, `keep` says so and nothing needs to be rendered.
 */
export class Output {
  readonly root: string;
  readonly counts: OutputCounts = { written: 0, unchanged: 0, deleted: 0 };
  readonly files = new Map<string, FileEntry>();
  private readonly previous: Map<string, FileEntry>;
  /** False after a killed run or without a manifest: what lies on the disk is compared, not believed. */
  private readonly trusted: boolean;
  private readonly notes: string;
  /** Names in a folder when the run began; a folder made by this run has no reader yet and needs no renames. */
  private readonly folders = new Map<string, { names: Set<string>; fresh: boolean }>();
  private changing = false;
  private temporary = 0;

  constructor(root: string) {
    this.root = root;
    this.notes = join(root, BUILD_NOTES);
    const manifest = readText(join(this.notes, 'manifest.tsv'));
    this.previous = parseManifest(manifest ?? '');
    this.trusted = manifest !== null && !existsSync(join(this.notes, 'unfinished'));
    rmSync(join(this.notes, 'tmp'), { recursive: true, force: true });
  }

  /** Whether the file of this key lies there already; if so it stays and need not be made. */
  keep(path: string, key: string): boolean {
    const entry = this.trusted ? this.previous.get(path) : undefined;
    if (entry === undefined || entry.key !== key || !this.present(path)) return false;
    this.files.set(path, entry);
    this.counts.unchanged++;
    return true;
  }

  /** Whether every file made from this key last time still lies there; if so they stay and need not be made. */
  keepAll(key: string): boolean {
    if (!this.trusted) return false;
    const paths = [...this.previous].filter(([, entry]) => entry.key === key).map(([path]) => path);
    return paths.length > 0 && paths.every((path) => this.present(path)) && paths.every((path) => this.keep(path, key));
  }

  /** Leaves files as they were that nobody has kept or written in this run. */
  keepOld(which: (entry: FileEntry, path: string) => boolean): void {
    for (const [path, entry] of this.previous) {
      if (!this.files.has(path) && which(entry, path) && this.present(path)) this.files.set(path, entry);
    }
  }

  /** Makes the file's content this, touching the disk only when it differs. */
  write(path: string, content: string | Uint8Array, key = ''): void {
    const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.length;
    const sha256 = hash('sha256', content, 'hex');
    this.files.set(path, { bytes, sha256, key });
    if (this.same(path, bytes, sha256)) {
      this.counts.unchanged++;
      return;
    }
    this.begin();
    const target = join(this.root, path);
    if (this.folder(posix.dirname(path)).fresh) {
      writeFileSync(target, content);
      chmodSync(target, PUBLIC.file);
    } else {
      const temporary = this.temporaryFile();
      writeFileSync(temporary, content);
      chmodSync(temporary, PUBLIC.file);
      renameSync(temporary, target);
    }
    this.counts.written++;
  }

  /** Makes a file that was written elsewhere this one, the bytes are not held. Tells what is there now. */
  take(path: string, from: string, key = ''): FileEntry {
    const { bytes, sha256 } = measured(from);
    const entry = { bytes, sha256, key };
    this.files.set(path, entry);
    if (this.same(path, bytes, sha256)) {
      this.counts.unchanged++;
      return entry;
    }
    this.begin();
    this.folder(posix.dirname(path));
    const temporary = this.temporaryFile();
    copyFileSync(from, temporary);
    chmodSync(temporary, PUBLIC.file);
    renameSync(temporary, join(this.root, path));
    this.counts.written++;
    return entry;
  }

  /** For a file too large to hold: `write` its pieces in order, then `end` puts it in place if it differs. */
  stream(path: string, key = ''): { write: (piece: string) => void; end: () => void } {
    this.begin();
    const temporary = this.temporaryFile();
    const file = openSync(temporary, 'w');
    fchmodSync(file, PUBLIC.file);
    const digest = createHash('sha256');
    let bytes = 0;
    let waiting: string[] = [];
    let length = 0;
    const flush = () => {
      const content = Buffer.from(waiting.join(''));
      digest.update(content);
      for (let at = 0; at < content.length; ) at += writeSync(file, content, at);
      bytes += content.length;
      waiting = [];
      length = 0;
    };
    return {
      write: (piece) => {
        waiting.push(piece);
        length += piece.length;
        if (length > 1 << 20) flush();
      },
      end: () => {
        flush();
        closeSync(file);
        const sha256 = digest.digest('hex');
        this.files.set(path, { bytes, sha256, key });
        if (this.same(path, bytes, sha256)) {
          unlinkSync(temporary);
          this.counts.unchanged++;
          return;
        }
        this.folder(posix.dirname(path));
        renameSync(temporary, join(this.root, path));
        this.counts.written++;
      },
    };
  }

  /** Deletes what was not kept or written, notes what is there, and marks the folder whole. */
  finish(): OutputCounts {
    const stale = new Set([...this.previous.keys()].filter((path) => !this.files.has(path)));
    if (!this.trusted) {
      for (const path of OWNED.flatMap((folder) => walk(this.root, folder))) if (!this.files.has(path)) stale.add(path);
    }
    for (const path of stale) {
      if (!this.present(path)) continue;
      this.begin();
      rmSync(join(this.root, path), { force: true });
      this.counts.deleted++;
    }
    for (const folder of new Set([...stale].map((path) => posix.dirname(path)))) this.prune(folder);
    const manifest = formatManifest(this.files);
    const noted = join(this.notes, 'manifest.tsv');
    if (manifest !== readText(noted)) {
      this.begin();
      const temporary = this.temporaryFile();
      writeFileSync(temporary, manifest);
      renameSync(temporary, noted);
    }
    rmSync(join(this.notes, 'tmp'), { recursive: true, force: true });
    rmSync(join(this.notes, 'unfinished'), { force: true });
    return this.counts;
  }

  /** From here on the folder may be half changed; a run that dies leaves the mark for the next one. */
  private begin(): void {
    if (this.changing) return;
    this.changing = true;
    mkdirSync(join(this.notes, 'tmp'), { recursive: true });
    writeFileSync(join(this.notes, 'unfinished'), '');
  }

  private temporaryFile(): string {
    return join(this.notes, 'tmp', String(this.temporary++));
  }

  private same(path: string, bytes: number, sha256: string): boolean {
    if (!this.present(path)) return false;
    if (this.trusted) return this.previous.get(path)?.sha256 === sha256;
    const found = readFileSync(join(this.root, path));
    return found.length === bytes && hash('sha256', found, 'hex') === sha256;
  }

  private present(path: string): boolean {
    const folder = join(this.root, posix.dirname(path));
    if (!this.folders.has(posix.dirname(path)) && !existsSync(folder)) return false;
    return this.folder(posix.dirname(path)).names.has(posix.basename(path));
  }

  private folder(path: string): { names: Set<string>; fresh: boolean } {
    const known = this.folders.get(path);
    if (known) return known;
    const at = join(this.root, path);
    const first = mkdirSync(at, { recursive: true });
    const found = { names: new Set(first === undefined ? readdirSync(at) : []), fresh: first !== undefined };
    this.folders.set(path, found);
    if (first !== undefined) chmodSync(at, PUBLIC.folder);
    // The folders around it that did not exist either are as new: a record's page may come before its dataset's other files.
    for (let around = path; first !== undefined && around !== '.' && join(this.root, around) !== first; ) {
      around = posix.dirname(around);
      chmodSync(join(this.root, around), PUBLIC.folder);
      this.folders.set(around, { names: new Set(), fresh: true });
    }
    return found;
  }

  /** Removes a folder that lost its last file, and its parents likewise; never the root. */
  private prune(folder: string): void {
    for (let path = folder; path !== '.' && path !== ''; path = dirname(path)) {
      const at = join(this.root, path);
      if (!existsSync(at) || readdirSync(at).length > 0) return;
      rmSync(at, { recursive: true });
    }
  }
}

/** Size and SHA-256 of a file, read in pieces. */
function measured(path: string): { bytes: number; sha256: string } {
  const digest = createHash('sha256');
  const piece = Buffer.allocUnsafe(1 << 20);
  const file = openSync(path, 'r');
  let bytes = 0;
  for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) {
    digest.update(piece.subarray(0, read));
    bytes += read;
  }
  closeSync(file);
  return { bytes, sha256: digest.digest('hex') };
}

function readText(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

function walk(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    return entry.isDirectory() ? walk(root, path) : [path];
  });
}
