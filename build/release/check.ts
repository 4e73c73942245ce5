// Checks a release: the pack's own tests, and the difference from the last release (docs/releases.md,
// "Checks").
import { join } from 'node:path';
import { Duck, quotedIdentifier, quotedText } from '../../data/duckdb/duck.ts';
import { column, RELEASE_FILES } from '../../data/model/layout.ts';
import type { Fact } from '../../data/model/record.ts';
import type { Attribute, Pack, PackTest } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';

/** Largest changes in one night; a few records never raise an alarm. */
const BOUNDS = {
  /** Share of the last release's records that may be missing, and a number that always may. */
  lost: { share: 0.02, records: 3 },
  /** Share of an attribute's values that may be missing, and a number that always may. */
  emptied: { share: 0.2, records: 3 },
  /** Share of an attribute's values that may have changed, when there are at least so many. */
  shifted: { share: 0.5, records: 20 },
  /** Share of all records that may newly have the pack's `gone` value, and a number that always may. */
  gone: { share: 0.2, records: 3 },
} as const;

/**
 * The mistakes of the release in `folder` as sentences; empty when it may become current. `before`: the last
 * release. `removed`: opted-out records, which do not count as lost.
 */
export async function checkRelease(
  pack: Pack,
  folder: string,
  before: { folder: string; revision: number | undefined } | null,
  removed: readonly string[] = [],
): Promise<string[]> {
  const spill = join(folder, '..', 'spill-check');
  const duck = await Duck.open(spill);
  try {
    const out = removed.length === 0 ? '' : ` WHERE id NOT IN (${removed.map(quotedText).join(', ')})`;
    const table = (name: string, at: string) =>
      duck.run(
        `CREATE VIEW ${name} AS SELECT * FROM read_parquet(${quotedText(join(at, RELEASE_FILES.engine))})${out}`,
      );
    await table('now', folder);
    const wrong = await packTests(duck, pack, removed.length);
    if (before !== null) {
      await table('earlier', before.folder);
      wrong.push(...(await comparisons(duck, pack, before.revision)));
    }
    return wrong;
  } finally {
    duck.close();
  }
}

/** The engine column that shows whether there is a value, and by which values are compared. */
function compared(attribute: Attribute): string {
  if (attribute.type === 'price') return column(attribute.name, 'min');
  if (attribute.type === 'geo') return column(attribute.name, 'lat');
  return column(
    attribute.name,
    ['string', 'text', 'url', 'enum', 'strings'].includes(attribute.type) ? 'fold' : 'value',
  );
}

const percent = (share: number) => `${Math.round(share * 1000) / 10} %`;

async function packTests(duck: Duck, pack: Pack, removed: number): Promise<string[]> {
  const wrong: string[] = [];
  const rows = await duck.count('SELECT count(*) FROM now');
  for (const test of pack.tests) {
    const attribute = pack.attributes.find(({ name }) => name === test.attribute);
    const mistake = attribute ? await attributeTest(duck, attribute, test, rows) : rowsTest(test, rows, removed);
    if (mistake !== null) wrong.push(mistake);
  }
  return wrong;
}

/** Opt-outs do not make a dataset too small. */
function rowsTest({ min, max }: PackTest, rows: number, removed: number): string | null {
  if (min !== undefined && rows + removed < min) return `${rows} records; the pack requires at least ${min}`;
  if (max !== undefined && rows > max) return `${rows} records; the pack allows at most ${max}`;
  return null;
}

async function attributeTest(duck: Duck, attribute: Attribute, test: PackTest, rows: number): Promise<string | null> {
  const { name, type } = attribute;
  const cell = quotedIdentifier(compared(attribute));
  const filled = await duck.count(`SELECT count(${cell}) FROM now`);
  if (test.kind === 'fill') {
    const share = rows === 0 ? 0 : filled / rows;
    if (test.min !== undefined && share < test.min)
      return `${name}: ${percent(share)} filled; the pack requires at least ${percent(test.min)}`;
    if (test.max !== undefined && share > test.max)
      return `${name}: ${percent(share)} filled; the pack allows at most ${percent(test.max)}`;
    return null;
  }
  if (test.kind === 'unique') {
    const distinct = await duck.count(`SELECT count(DISTINCT ${cell}) FROM now`);
    return distinct < filled ? `${name}: ${filled - distinct} values are not unique` : null;
  }
  const accepted = (test.values ?? []).map((value) => quotedText(fold(value))).join(', ');
  const values = type === 'strings' ? `unnest(${cell})` : cell;
  const found = await duck.rows(
    `SELECT DISTINCT value FROM (SELECT ${values}::VARCHAR AS value FROM now) WHERE value IS NOT NULL AND value NOT IN (${accepted}) ORDER BY value LIMIT 3`,
  );
  return found.length > 0
    ? `${name}: ${found.map(([value]) => String(value)).join(', ')} is not among the accepted values`
    : null;
}

async function comparisons(duck: Duck, pack: Pack, revision: number | undefined): Promise<string[]> {
  const wrong: string[] = [];
  const [[all = 0, lost = 0] = []] = (await duck.rows(
    'SELECT count(*), count(*) FILTER (n.id IS NULL) FROM earlier e LEFT JOIN now n USING (id)',
  )) as unknown as number[][];
  if (Number(lost) > Math.max(BOUNDS.lost.records, Number(all) * BOUNDS.lost.share)) {
    wrong.push(`${lost} of ${all} records are missing`);
  }
  const present = new Set((await duck.rows('DESCRIBE earlier')).map(([name]) => String(name)));
  for (const attribute of pack.attributes) {
    if (!present.has(compared(attribute))) continue;
    wrong.push(...(await compareAttribute(duck, pack, attribute, revision)));
  }
  return wrong;
}

async function compareAttribute(
  duck: Duck,
  pack: Pack,
  attribute: Attribute,
  revision: number | undefined,
): Promise<string[]> {
  const { name } = attribute;
  const cell = quotedIdentifier(compared(attribute));
  const gone = pack.gone?.attribute === name ? quotedText(fold(pack.gone.value)) : 'NULL';
  const [row = []] = await duck.rows(
    `SELECT count(e.${cell}), count(e.${cell}) FILTER (n.id IS NOT NULL AND n.${cell} IS NULL), ` +
      `count(*) FILTER (e.${cell} IS NOT NULL AND n.${cell} IS NOT NULL), ` +
      `count(*) FILTER (e.${cell}::VARCHAR <> n.${cell}::VARCHAR), ` +
      `count(*) FILTER (n.${cell}::VARCHAR = ${gone} AND e.${cell}::VARCHAR IS DISTINCT FROM ${gone}), count(*) ` +
      'FROM earlier e LEFT JOIN now n USING (id)',
  );
  const [filled = 0, emptied = 0, both = 0, changed = 0, left = 0, all = 0] = row.map(Number);
  const wrong: string[] = [];
  if (emptied > Math.max(BOUNDS.emptied.records, filled * BOUNDS.emptied.share)) {
    wrong.push(`${name}: ${emptied} of ${filled} values are missing`);
  }
  // A new revision reads the same sources differently, so values are expected to change.
  if (revision === pack.revision && both >= BOUNDS.shifted.records && changed > both * BOUNDS.shifted.share) {
    wrong.push(`${name}: ${changed} of ${both} values changed in one night`);
  }
  if (left > Math.max(BOUNDS.gone.records, all * BOUNDS.gone.share)) {
    wrong.push(`${left} of ${all} records are newly ${pack.gone?.value}`);
  }
  return wrong;
}

/** Values in the line. */
const NAMED = 5;

/**
 * One line about review items that were open in the last release (null: no release) and are confirmed now; []
 * when there are none.
 */
export async function confirmedValues(before: string | null, folder: string, workspace: string): Promise<string[]> {
  if (before === null) return [];
  const spill = join(workspace, 'spill-confirmed');
  const duck = await Duck.open(spill);
  try {
    const items = (release: string) => `read_parquet(${quotedText(join(release, RELEASE_FILES.review))})`;
    // A release of an earlier version lacks the column: all its items are open.
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
