// Checks a release: the pack's own tests, and the difference from the last release (docs/releases.md,
// "Checks").
import { join } from 'node:path';
import { Duck, quotedIdentifier, quotedText } from '../../data/duckdb/duck.ts';
import { column, RELEASE_FILES } from '../../data/model/layout.ts';
import type { Fact } from '../../data/model/record.ts';
import type { Attribute, Pack, PackTest } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';
import { acceptOnce, percent } from '../collect/sentences.ts';

/** Records or values from which on shares count, and from which on all of them are too many. */
const LEAST = { share: 200, all: 20 };

/**
 * The sentence about a rule of the pack's `checks` that a release breaks: `count` of `all` are `what`; [] when it does
 * not. `setting`: another member of the pack that avoids it.
 */
function overShare(
  { id, checks }: Pack,
  rule: keyof Pack['checks'],
  [count, all]: readonly [count: number, all: number],
  what: string,
  setting = '',
): string[] {
  const most = checks[rule];
  const total = rule !== 'changed_values' && all >= LEAST.all && count === all;
  if (count <= all * most || (all < LEAST.share && !total)) return [];
  return [
    `${what} (${percent(count / all)}; checks.${rule}: ${percent(most)}). ` +
      `${acceptOnce(id)}, or set ${setting}checks.${rule} in pack.ts`,
  ];
}

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

async function packTests(duck: Duck, pack: Pack, removed: number): Promise<string[]> {
  const wrong: string[] = [];
  const rows = await duck.count('SELECT count(*) FROM now');
  for (const test of pack.tests) {
    const attribute = pack.attributes.find(({ name }) => name === test.attribute);
    const named = `the test \`${test.kind}\`${attribute ? ` of ${attribute.name}` : ''}`;
    const mistake = attribute ? await attributeTest(duck, attribute, test, rows) : rowsTest(test, rows, removed);
    if (mistake !== null)
      wrong.push(`${mistake}. If that is right, change ${named} in pack.ts; --accept does not skip it`);
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
  const violations = await duck.rows(
    `SELECT DISTINCT value FROM (SELECT ${values}::VARCHAR AS value FROM now) WHERE value IS NOT NULL AND value NOT IN (${accepted}) ORDER BY value LIMIT 3`,
  );
  return violations.length > 0
    ? `${name}: ${violations.map(([value]) => String(value)).join(', ')} is not among the accepted values`
    : null;
}

async function comparisons(duck: Duck, pack: Pack, revision: number | undefined): Promise<string[]> {
  const wrong: string[] = [];
  const [[all = 0, lost = 0] = []] = (await duck.rows(
    'SELECT count(*), count(*) FILTER (n.id IS NULL) FROM earlier e LEFT JOIN now n USING (id)',
  )) as unknown as number[][];
  const counts = [Number(lost), Number(all)] as const;
  wrong.push(...overShare(pack, 'lost_records', counts, `${lost} of ${all} records are missing`));
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
  const goneValue = pack.gone?.attribute === name ? quotedText(fold(pack.gone.value)) : 'NULL';
  const [row = []] = await duck.rows(
    `SELECT count(e.${cell}), count(e.${cell}) FILTER (n.id IS NOT NULL AND n.${cell} IS NULL), ` +
      `count(*) FILTER (e.${cell} IS NOT NULL AND n.${cell} IS NOT NULL), ` +
      `count(*) FILTER (e.${cell}::VARCHAR <> n.${cell}::VARCHAR), ` +
      `count(*) FILTER (n.${cell}::VARCHAR = ${goneValue} AND e.${cell}::VARCHAR IS DISTINCT FROM ${goneValue}), count(*) ` +
      'FROM earlier e LEFT JOIN now n USING (id)',
  );
  const [filled = 0, emptied = 0, both = 0, changed = 0, left = 0, all = 0] = row.map(Number);
  // A new revision reads the same sources differently, so values are expected to change.
  const expected = revision !== pack.revision || attribute.volatile === true;
  const lost = `${name}: ${emptied} of ${filled} values are missing`;
  const shifted = `${name}: ${changed} of ${both} values changed in one night`;
  const gone = `${left} of ${all} records are newly ${pack.gone?.value}`;
  return [
    ...overShare(pack, 'lost_values', [emptied, filled], lost),
    ...(expected ? [] : overShare(pack, 'changed_values', [changed, both], shifted, `attributes.${name}.volatile or `)),
    ...overShare(pack, 'gone_records', [left, all], gone),
  ];
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
    const rows = await duck.rows(
      `SELECT entity_id, attribute, facts FROM ${items(folder)} WHERE confirmed_at IS NOT NULL ` +
        `AND id IN (SELECT id FROM ${items(before)} WHERE confirmed_at IS NULL) ORDER BY entity_id, attribute, id`,
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
