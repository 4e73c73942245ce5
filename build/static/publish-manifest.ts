// The list of published files as text: one line per file with path, bytes, SHA-256 and key.

/** One published file. `key` is '' for files that every run makes again and compares by content. */
export interface FileEntry {
  bytes: number;
  /** 64 hex digits. */
  sha256: string;
  key: string;
}

const HEADER = 'path\tbytes\tsha256\tkey';

/** Sorted by path, so that equal folders have equal manifests. */
export function formatManifest(files: ReadonlyMap<string, FileEntry>): string {
  const lines = [...files.keys()].sort().map((path) => {
    const { bytes, sha256, key } = files.get(path)!;
    return `${path}\t${bytes}\t${sha256}\t${key}`;
  });
  return [HEADER, ...lines, ''].join('\n');
}

/** Parses the text of formatManifest; another header (of an earlier version) gives an empty map. */
export function parseManifest(text: string): Map<string, FileEntry> {
  const [header, ...lines] = text.split('\n');
  const files = new Map<string, FileEntry>();
  if (header !== HEADER) return files;
  for (const line of lines) {
    const [path, bytes, sha256, key] = line.split('\t');
    if (path && bytes && sha256 && key !== undefined) files.set(path, { bytes: Number(bytes), sha256, key });
  }
  return files;
}
