// Edits, removals and restorations that the files of a dataset lack (`/files/{ds}/edits.json`), for pages that read
// these files.
import type { Edits } from '../../data/queries/edits.ts';
import type { Value } from '../../packs/define/model.ts';

export type { Edits };

/** Milliseconds that a page waits for the API; without it the page shows the files as they are. */
const PATIENCE = 5_000;

/** Reads the edits next to a file; null: there are none, or this host has no API. */
export async function fetchEdits(file: string): Promise<Edits | null> {
  const init: RequestInit = { cache: 'no-cache', signal: AbortSignal.timeout(PATIENCE) };
  const response = await fetch(file.replace(/[^/]+$/, 'edits.json'), init).catch(() => null);
  if (!response?.ok) {
    // An unread answer keeps its connection.
    await response?.body?.cancel();
    return null;
  }
  // Some hosts send a page for every unknown address.
  return (await response.json().catch(() => null)) as Edits | null;
}

/** A value in the columns of its attribute: `x`, or the parts `x.min`, `x.max`, `x.lat`, `x.lng`. */
export function editedCells(name: string, value: Value | null, columns: readonly string[]): [string, Value | null][] {
  return columns.map((column) => {
    const part = column.slice(name.length + 1);
    const whole = part === '' || value === null || typeof value !== 'object';
    return [column, whole ? value : ((value as unknown as Record<string, Value>)[part] ?? null)];
  });
}
