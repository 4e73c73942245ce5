// The folder of static files: writes changed files, keeps equal ones, deletes the rest
// (docs/static-hosting.md).
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
import { PUBLIC_MODES } from '../../data/model/permissions.ts';
import { type FileEntry, formatManifest, parseManifest } from './publish-manifest.ts';

/**
 * Folders that belong to the build: after a killed run, files in them that are not in the manifest are
 * deleted.
 */
const OWNED = ['datasets', 'v1', 'assets', 'files', 'sql', 'explore', 'search', 'record', 'og'];

/** The build's own notes, below DIST_DIR; never published and never served. */
export const BUILD_NOTES = '.build';

const NONE: ReadonlySet<string> = new Set();

/** Numbers of files by what a run did. */
export interface OutputCounts {
  written: number;
  unchanged: number;
  deleted: number;
}

/**
 * DIST_DIR during one run. Open it, `keep` or `write` every file that belongs to it, `finish`. A file is
 * named by its path below the folder, with `/`. `key` is the fingerprint of a file's inputs: when it is
 * unchanged, `keep` returns true and the file need not be rendered.
 */
export class Output {
  readonly root: string;
  readonly counts: OutputCounts = { written: 0, unchanged: 0, deleted: 0 };
  readonly files = new Map<string, FileEntry>();
  private readonly previous: Map<string, FileEntry>;
  /** False after a killed run or without a manifest: files on disk are compared by content. */
  private readonly trusted: boolean;
  private readonly notes: string;
  /**
   * Names in a folder when the run began. A folder made by this run has no reader yet and needs no renames.
   */
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

  /** Whether the file exists with this key; it is then kept and need not be made. */
  keep(path: string, key: string): boolean {
    const entry = this.trusted ? this.previous.get(path) : undefined;
    if (entry === undefined || entry.key !== key || !this.present(path)) return false;
    this.files.set(path, entry);
    this.counts.unchanged++;
    return true;
  }

  /** Whether all files of this key still exist; they are then kept and need not be made. */
  keepAll(key: string): boolean {
    if (!this.trusted) return false;
    const paths = [...this.previous].filter(([, entry]) => entry.key === key).map(([path]) => path);
    return paths.length > 0 && paths.every((path) => this.present(path)) && paths.every((path) => this.keep(path, key));
  }

  /**
   * Keeps the files in a folder whose keys end with `ending`, when there are `count` of them and all exist. Returns
   * whether they are kept.
   */
  keepFolder(folder: string, ending: string, count: number): boolean {
    if (!this.trusted) return false;
    const inside = `${folder}/`;
    const present = existsSync(join(this.root, folder)) ? this.folder(folder).names : NONE;
    const paths: string[] = [];
    for (const [path, { key }] of this.previous)
      if (key.endsWith(ending) && path.startsWith(inside) && !path.includes('/', inside.length)) paths.push(path);
    if (paths.length !== count || !paths.every((path) => present.has(path.slice(inside.length)))) return false;
    for (const path of paths) this.files.set(path, this.previous.get(path)!);
    this.counts.unchanged += count;
    return true;
  }

  /** Writes a note for the next run; a killed run leaves none that counts. */
  note(name: string, text: string): void {
    const noted = join(this.notes, name);
    if (text === readText(noted)) return;
    this.begin();
    const temporary = this.temporaryFile();
    writeFileSync(temporary, text);
    renameSync(temporary, noted);
  }

  /** A note of the last run; null when there is none, or after a killed run. */
  readNote(name: string): string | null {
    return this.trusted ? readText(join(this.notes, name)) : null;
  }

  /** Takes size and hash of selected files from the disk: others may have replaced them, and all are due. */
  remeasure(which: (path: string) => boolean): void {
    for (const path of this.previous.keys())
      if (which(path) && this.present(path)) this.previous.set(path, { ...measured(join(this.root, path)), key: '' });
  }

  /** Keeps the selected old files that this run neither kept nor wrote. */
  keepOld(which: (entry: FileEntry, path: string) => boolean): void {
    for (const [path, entry] of this.previous) {
      if (!this.files.has(path) && which(entry, path) && this.present(path)) this.files.set(path, entry);
    }
  }

  /** Sets the content of a file; writes to disk only when it differs. */
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
    if (this.folder(posix.dirname(path)).fresh) writePublicFile(target, content);
    else {
      const temporary = this.temporaryFile();
      writePublicFile(temporary, content);
      renameSync(temporary, target);
    }
    this.counts.written++;
  }

  /**
   * The place of a folder that this run made, where threads may write files (`writePublicFile`) because it has
   * no reader yet; call `add` for each of them. Null for a folder that was there before.
   */
  freshFolder(folder: string): string | null {
    this.begin();
    return this.folder(folder).fresh ? join(this.root, folder) : null;
  }

  /** Adds a file that a thread wrote into a fresh folder. */
  add(path: string, entry: FileEntry): void {
    this.files.set(path, entry);
    this.counts.written++;
  }

  /**
   * Moves a file that was written elsewhere into place, without reading it into memory. Returns its entry.
   */
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
    chmodSync(temporary, PUBLIC_MODES.file);
    renameSync(temporary, join(this.root, path));
    this.counts.written++;
    return entry;
  }

  /**
   * For a file too large for memory: `write` its pieces in order; `end` moves it into place if it differs.
   */
  stream(path: string, key = ''): { write: (piece: string | Uint8Array) => void; end: () => void } {
    this.begin();
    const temporary = this.temporaryFile();
    const file = openSync(temporary, 'w');
    fchmodSync(file, PUBLIC_MODES.file);
    const digest = createHash('sha256');
    let bytes = 0;
    let waiting: (string | Uint8Array)[] = [];
    let length = 0;
    const flush = () => {
      const content = joinedBytes(waiting);
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

  /**
   * Deletes files that were not kept or written, writes the manifest, and removes the marker of an unfinished
   * run. `complete` false: the marker of an earlier run stays, whose files no one has compared.
   */
  finish({ complete = true } = {}): OutputCounts {
    const stale = new Set([...this.previous.keys()].filter((path) => !this.files.has(path)));
    if (!this.trusted && complete) {
      for (const path of OWNED.flatMap((folder) => walk(this.root, folder))) if (!this.files.has(path)) stale.add(path);
    }
    for (const path of stale) {
      if (!this.present(path)) continue;
      this.begin();
      rmSync(join(this.root, path), { force: true });
      this.counts.deleted++;
    }
    for (const folder of new Set([...stale].map((path) => posix.dirname(path)))) this.prune(folder);
    this.note('manifest.tsv', formatManifest(this.files));
    rmSync(join(this.notes, 'tmp'), { recursive: true, force: true });
    if (this.trusted || complete) rmSync(join(this.notes, 'unfinished'), { force: true });
    return this.counts;
  }

  /** Marks the folder as unfinished, so that the run after a killed one compares all files. */
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
    const content = readFileSync(join(this.root, path));
    return content.length === bytes && hash('sha256', content, 'hex') === sha256;
  }

  private present(path: string): boolean {
    const folder = posix.dirname(path);
    if (!this.folders.has(folder) && !existsSync(join(this.root, folder))) return false;
    return this.folder(folder).names.has(posix.basename(path));
  }

  private folder(path: string): { names: Set<string>; fresh: boolean } {
    const entry = this.folders.get(path);
    if (entry) return entry;
    const at = join(this.root, path);
    const first = mkdirSync(at, { recursive: true });
    const folder = { names: new Set(first === undefined ? readdirSync(at) : []), fresh: first !== undefined };
    this.folders.set(path, folder);
    if (first !== undefined) chmodSync(at, PUBLIC_MODES.folder);
    // Its new parent folders have no reader either: a record's page may be written before other files of its
    // dataset.
    for (let around = path; first !== undefined && around !== '.' && join(this.root, around) !== first; ) {
      around = posix.dirname(around);
      chmodSync(join(this.root, around), PUBLIC_MODES.folder);
      this.folders.set(around, { names: new Set(), fresh: true });
    }
    return folder;
  }

  /** Removes a folder that lost its last file, and its empty parents. */
  private prune(folder: string): void {
    for (let path = folder; path !== '.' && path !== ''; path = dirname(path)) {
      const at = join(this.root, path);
      if (!existsSync(at) || readdirSync(at).length > 0) return;
      rmSync(at, { recursive: true });
    }
  }
}

/** Writes a file that everybody may read. */
export function writePublicFile(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content);
  chmodSync(path, PUBLIC_MODES.file);
}

/** The bytes of pieces in sequence. */
export function joinedBytes(pieces: readonly (string | Uint8Array)[]): Buffer {
  if (pieces.every((piece) => typeof piece === 'string')) return Buffer.from(pieces.join(''));
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}

/** Size and SHA-256 of a file, read in chunks. */
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
