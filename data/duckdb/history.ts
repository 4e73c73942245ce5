// Questions about the past, each a few statements on the files of the release: they are asked rarely and stay on disk.
import { join as path } from 'node:path';
import { RELEASE_FILES } from '../model/layout.ts';
import type { Asking, Engine } from '../plan/plan.ts';
import { CHANGES_A_SLICE, mapSlices } from '../plan/slices.ts';
import { type ChangelogLine, changelogUnder, changeRow, countStatement, pageStatement } from './changelog.ts';
import { changesRow, changesStatement } from './changes.ts';
import { doubtRows, doubtsStatement, factRows, factsStatement, listed, pastStatement } from './facts.ts';
import type { Pool } from './pool.ts';
import { reviewRows, reviewStatement } from './review.ts';
import { originsStatement } from './spread.ts';
import { join, literal, type Sql, sql } from './sql.ts';

/** Compared in the column's own type, without which no row group is skipped. */
const ordinalsIn = (ordinals: readonly number[]): Sql =>
  join(
    ordinals.map((ordinal) => sql`${ordinal}::UINTEGER`),
    ', ',
  );

type History = Pick<Engine, 'facts' | 'past' | 'doubts' | 'review' | 'changelog' | 'changes' | 'origins'>;

/** What an overlay makes of the files that tell of changes. */
export interface Hidden {
  /** Ids of records whose lines in the change feed do not count any more. */
  removed: readonly string[];
  /** Ids of those whose lines in the changelog and open questions do not count, and the lines that take their place. */
  gone: readonly string[];
  changelog: readonly ChangelogLine[];
}

/** The history questions over the release in `folder`, under an overlay where there is one. */
export function historyQuestions(pool: Pool, dataset: string, folder: string, hidden?: () => Promise<Hidden>): History {
  const file = (name: string) => sql`read_parquet(${literal(path(folder, name))})`;
  // Releases of an earlier program lack these columns.
  const since = (name: string, added: Sql) => sql`(FROM ${file(name)} UNION ALL BY NAME SELECT ${added} WHERE false)`;
  const factsFile = since(RELEASE_FILES.facts, sql`NULL::DOUBLE AS group_median`);
  const reviewFile = since(RELEASE_FILES.review, sql`NULL::TIMESTAMP AS confirmed_at, NULL::DOUBLE AS group_median`);
  return {
    facts: async (plan, asking) => factRows(await pool.ask(factsStatement(plan, factsFile), asking)),
    doubts: async (entity, asking) => doubtRows(await pool.ask(doubtsStatement(entity, reviewFile), asking)),
    async review(plan, asking) {
      const { gone = [] } = (await hidden?.()) ?? {};
      return reviewRows(await pool.ask(reviewStatement(plan, reviewFile, gone), asking), dataset);
    },
    async changelog(plan, asking) {
      const stored = file(RELEASE_FILES.changelog);
      const over = await hidden?.();
      const changelog = over ? changelogUnder(stored, over.gone, over.changelog) : stored;
      const [[total] = []] = await pool.ask(countStatement(plan, changelog), asking);
      const rows = plan.offset < Number(total) ? await pool.ask(pageStatement(plan, changelog), asking) : [];
      return { rows: rows.map(changeRow), total: Number(total) };
    },
    async changes(plan, asking) {
      const { removed = [] } = (await hidden?.()) ?? {};
      const rows = await pool.ask(changesStatement(plan, file(RELEASE_FILES.changes), removed), asking);
      return mapSlices(rows, CHANGES_A_SLICE, changesRow, asking);
    },
    async origins(asking) {
      const { gone = [] } = (await hidden?.()) ?? {};
      const rows = await pool.ask(originsStatement(file(RELEASE_FILES.facts), gone), asking);
      return rows.map((row) => ({ attribute: String(row[0]), source: String(row[1]), values: Number(row[2]) }));
    },
    past: async (ordinals, asking) => {
      const readings = await pool.ask(
        sql`SELECT source, epoch_ms(observed_at), version FROM ${file(RELEASE_FILES.readings)} ORDER BY observed_at`,
        asking,
      );
      return {
        records: ordinals.length === 0 ? [] : await records(ordinals, asking),
        readings: readings.map((row) => ({ source: String(row[0]), at: Number(row[1]), version: String(row[2]) })),
      };
    },
  };

  async function records(ordinals: readonly number[], asking: Asking | undefined) {
    const found = await pool.ask(
      sql`SELECT b.ord, b.id, r.slug, b.identity FROM ${file(RELEASE_FILES.bodies)} b JOIN records r ON r.ord = b.ord WHERE b.ord IN (${ordinalsIn(ordinals)})`,
      asking,
    );
    const ids = found.map((row) => String(row[1]));
    const facts = Map.groupBy(factRows(await pool.ask(pastStatement(ids, factsFile), asking)), ({ entity }) => entity);
    const listings = await pool.ask(
      sql`SELECT entity, source, listed, epoch_ms("at") FROM ${file(RELEASE_FILES.listings)} WHERE entity IN (${listed(ids)}) ORDER BY entity, "at"`,
      asking,
    );
    return found.map((row) => ({
      ordinal: Number(row[0]),
      id: String(row[1]),
      slug: String(row[2]),
      identity: String(row[3]),
      facts: facts.get(String(row[1])) ?? [],
      listings: listings
        .filter(([entity]) => entity === row[1])
        .map(([, source, held, at]) => ({ source: String(source), listed: held === true, at: Number(at) })),
      decided: [],
    }));
  }
}
