// DuckDB engine of one release: every plan is one statement on tables in memory. The reference for other
// engines.
import type { Pack } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';
import type { Manifest } from '../model/layout.ts';
import type { AppliedOverlay, ChangedRecord } from '../plan/applied-overlay.ts';
import type { FactRow } from '../plan/history.ts';
import { DEFAULT_LIMITS, type EngineLimits } from '../plan/limits.ts';
import type { Engine } from '../plan/plan.ts';
import { createQueryQueue, type QueryQueue } from '../plan/query-queue.ts';
import type { Sql } from '../plan/sql.ts';
import { type ChangedTables, makeChangedTables } from './changed-tables.ts';
import type { ChangelogLine } from './changelog.ts';
import { historyQuestions } from './history.ts';
import { load } from './load.ts';
import { createPool, type Pool } from './pool.ts';
import { tableQuestions } from './questions.ts';
import { byOpening } from './review.ts';
import type { Shape } from './shape.ts';

/** The DuckDB connections, tables and SQL of an open release, without overlay. */
interface DuckRelease {
  pool: Pool;
  pack: Pack;
  folder: string;
  shape: Shape;
  bodies: Sql;
}

/**
 * The engine with an overlay. Its tables are created by the first query that needs them, and dropped by
 * `close`.
 */
function overlayEngine(opened: DuckRelease, overlay: AppliedOverlay): Engine {
  const { pool, pack, folder, shape, bodies } = opened;
  let making: Promise<ChangedTables> | null = null;
  const side = (): Promise<ChangedTables> => {
    making ??= makeChangedTables((statement) => pool.alter(statement), pack, shape, overlay);
    making.catch(() => {
      making = null;
    });
    return making;
  };
  const base = tableQuestions(pool, bodies, async () => shape);
  const changed = new ChangedRecords(overlay.changed, base);
  const now = async () => (await side()).shape;
  const history = historyQuestions(pool, pack.id, folder, now, async () => ({
    removed: [...overlay.removed],
    gone: [...overlay.removed, ...changed.byId.keys()],
    changelog: await changed.changelogLines(),
  }));
  return {
    ...tableQuestions(pool, bodies, now),
    ...history,
    ...historyUnder(overlay, changed.byId, history),
    async bodies(ordinals, options) {
      const own = await changed.byOrdinal();
      const stored = ordinals.filter((ordinal) => !own.has(ordinal));
      const found = new Map((await base.bodies(stored, options)).map((body, i) => [stored[i]!, body]));
      return ordinals.map((ordinal) => {
        const changed = own.get(ordinal);
        return changed ? { body: JSON.stringify(changed.record), version: changed.version } : found.get(ordinal)!;
      });
    },
    withOverlay: (other) => overlayEngine(opened, other),
    close: async () => {
      const tables = await making?.catch(() => null);
      await tables?.drop();
    },
  };
}

/** The records that an overlay changes, by id and by their ordinal in the release. */
class ChangedRecords {
  readonly byId: ReadonlyMap<string, ChangedRecord>;
  readonly #base: Pick<Engine, 'resolve'>;
  #placed: Promise<Map<number, ChangedRecord>> | null = null;

  constructor(changed: readonly ChangedRecord[], base: Pick<Engine, 'resolve'>) {
    this.byId = new Map(changed.map((each) => [each.record.id, each]));
    this.#base = base;
  }

  /** Queries the release once; the next call retries after a failure. */
  byOrdinal(): Promise<Map<number, ChangedRecord>> {
    this.#placed ??= this.#place();
    this.#placed.catch(() => {
      this.#placed = null;
    });
    return this.#placed;
  }

  async #place(): Promise<Map<number, ChangedRecord>> {
    const ids = [...this.byId.keys()];
    const ordinals = await this.#base.resolve(ids);
    const found = ids.flatMap((id, i) => (ordinals[i] === null ? [] : [[ordinals[i], this.byId.get(id)!] as const]));
    return new Map(found as [number, ChangedRecord][]);
  }

  /** The rows that replace theirs in the changelog. */
  async changelogLines(): Promise<ChangelogLine[]> {
    return [...(await this.byOrdinal())].flatMap(([ord, { record, history: rows }]) =>
      rows.map(({ attribute, cells: [value, old_value, , , from, , source_url] }) => {
        const { id, slug, name } = record;
        return {
          ord,
          entity_id: id,
          slug,
          name,
          attribute,
          old_value,
          new_value: value,
          observed_at: from,
          source_url,
        };
      }),
    );
  }
}

type Past = Pick<Engine, 'facts' | 'openItems' | 'review' | 'origins' | 'past'>;

/** History queries that the overlay answers for the records it changes. */
function historyUnder(overlay: AppliedOverlay, changed: ReadonlyMap<string, ChangedRecord>, history: Past): Past {
  return {
    async facts(plan, options) {
      if (overlay.removed.has(plan.entity)) return [];
      const own = changed.get(plan.entity);
      if (!own) return history.facts(plan, options);
      const { attribute, since, limit } = plan;
      const facts = own.facts.filter(
        (fact) => (attribute === null || fact.attribute === attribute) && (since === null || fact.observed_at >= since),
      );
      return facts.sort(newestFirst).slice(0, limit);
    },
    async openItems(entity, options) {
      if (overlay.removed.has(entity)) return [];
      const own = changed.get(entity);
      if (!own) return history.openItems(entity, options);
      return own.review
        .filter(({ confirmed_at }) => confirmed_at === undefined)
        .map(({ kind, attribute, opened_at }) => ({ kind, attribute, opened_at: Date.parse(opened_at) }))
        .sort((a, b) => a.opened_at - b.opened_at || byCodePoint(a.attribute, b.attribute));
    },
    async review(plan, options) {
      const { entity, id, confirmed = false, limit } = plan;
      const own = [...changed.values()]
        .flatMap(({ review }) => review)
        .filter(({ confirmed_at }) => (confirmed_at !== undefined) === confirmed)
        .filter((item) => (entity === null || item.entity_id === entity) && (id === null || item.id === id));
      return [...(await history.review(plan, options)), ...own].sort(byOpening).slice(0, limit);
    },
    async origins(options) {
      const own = [...changed.values()].flatMap(({ facts }) => facts.filter(({ won, value }) => won && value !== null));
      const counts = new Map((await history.origins(options)).map((one) => [`${one.attribute} ${one.source}`, one]));
      for (const { attribute, source } of own) {
        const before = counts.get(`${attribute} ${source}`);
        counts.set(`${attribute} ${source}`, { attribute, source, values: (before?.values ?? 0) + 1 });
      }
      return [...counts.values()].sort(
        (a, b) => byCodePoint(a.attribute, b.attribute) || b.values - a.values || byCodePoint(a.source, b.source),
      );
    },
    async past(ordinals, options) {
      const { records, readings } = await history.past(ordinals, options);
      const merged = records.map((record) => {
        const facts = changed.get(record.id)?.facts.slice() ?? record.facts;
        return { ...record, facts, decided: overlay.decided.get(record.id) ?? [] };
      });
      return { records: merged, readings };
    },
  };
}

/** Same order as `factsStatement`. */
function newestFirst(a: FactRow, b: FactRow): number {
  return (
    b.observed_at - a.observed_at ||
    byCodePoint(a.attribute, b.attribute) ||
    byCodePoint(b.run, a.run) ||
    byCodePoint(a.source, b.source) ||
    byCodePoint(a.value ?? '', b.value ?? '')
  );
}

/**
 * Opens the release in `folder`. With `indexed`, the release has a packed index and fewer tables are loaded.
 * Engines of a process should share a queue. Throws when the release is damaged. Queries throw DataError
 * `query_timeout` or `unavailable` (contract section 4).
 */
export async function openEngine(
  folder: string,
  pack: Pack,
  manifest: Manifest,
  limits: Partial<EngineLimits> = {},
  queue?: QueryQueue,
  indexed = false,
): Promise<Engine> {
  const all = { ...DEFAULT_LIMITS, ...limits };
  const { instance, connect, shape, bodies } = await load(folder, pack, manifest.records, all, indexed);
  const pool = createPool(instance, queue ?? createQueryQueue(all), all.statement, connect);
  const opened = { pool, pack, folder, shape, bodies };
  return {
    ...tableQuestions(pool, bodies, async () => shape),
    ...historyQuestions(pool, pack.id, folder, async () => shape),
    withOverlay: (overlay) => overlayEngine(opened, overlay),
    close: () => pool.close(),
  };
}
