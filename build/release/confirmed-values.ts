// Held values that a later reading or another source confirmed since the release before, for the log of the run.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Duck, quoted } from '../../data/duckdb/duck.ts';
import { RELEASE_FILES } from '../../data/model/layout.ts';
import type { Fact } from '../../data/model/record.ts';

/** Values that the line names. */
const NAMED = 5;

/** One line about review items that were open in the release before (null: there is none) and are confirmed now; none: no line. */
export async function confirmedValues(before: string | null, folder: string, workspace: string): Promise<string[]> {
  if (before === null) return [];
  const spill = join(workspace, 'spill-confirmed');
  await mkdir(spill, { recursive: true });
  const duck = await Duck.open(spill);
  try {
    const items = (release: string) => `read_parquet(${quoted(join(release, RELEASE_FILES.review))})`;
    // A release of an earlier program lacks the column: all of its items are open.
    const earlier = `(FROM ${items(before)} UNION ALL BY NAME SELECT NULL::TIMESTAMP AS confirmed_at WHERE false)`;
    const rows = await duck.rows(
      `SELECT entity_id, attribute, facts FROM ${items(folder)} WHERE confirmed_at IS NOT NULL ` +
        `AND id IN (SELECT id FROM ${earlier} WHERE confirmed_at IS NULL) ORDER BY entity_id, attribute, id`,
    );
    if (rows.length === 0) return [];
    const named = rows.slice(0, NAMED).map(([entity, attribute, json]) => {
      const held = (JSON.parse(String(json)) as Fact[]).at(-1);
      return `${attribute} of ${entity} (${JSON.stringify(held?.value)})`;
    });
    const more = rows.length > NAMED ? ` and ${rows.length - NAMED} more` : '';
    const values = rows.length === 1 ? '1 held value was' : `${rows.length} held values were`;
    return [`${values} confirmed by a later reading or another source: ${named.join(', ')}${more}`];
  } finally {
    duck.close();
  }
}
