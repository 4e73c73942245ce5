// DuckDB engine of one release: every plan is one statement on tables in memory. The reference for other
// engines.
import type { Pack } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';
import type { Manifest } from '../model/layout.ts';
import type { AppliedOverlay, ChangedRecord } from '../plan/applied-overlay.ts';
import type { FactRow, Past } from '../plan/history.ts';
import { DEFAULT_LIMITS, type EngineLimits } from '../plan/limits.ts';
import type { Engine } from '../plan/plan.ts';
import { createQueryQueue, type QueryQueue } from '../plan/query-queue.ts';
import { contextAt, settlePast } from '../plan/settled.ts';
import type { Sql } from '../plan/sql.ts';
import { type ChangedTables, makeChangedTables } from './changed-tables.ts';
import type { ChangelogLine } from './changelog.ts';
import { historyQuestions } from './history.ts';
import { load } from './load.ts';
import { changeTimes, Moments, makeMomentTables } from './moments.ts';
import { Pool } from './pool.ts';
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
  /** Admits one build of a moment at a time. */
  building: QueryQueue;
}

/**
 * The engine with an overlay. Its tables are created by the first query that needs them, and dropped by
 * `close`.
 */
function overlayEngine(opened: DuckRelease, overlay: AppliedOverlay): Engine {
  const { pool, pack, folder, shape, bodies, building } = opened;
  const run = (statement: Sql) => pool.alter(statement);
  let making: Promise<ChangedTables> | null = null;
  const side = (): Promise<ChangedTables> => {
    making ??= makeChangedTables(run, pack, shape, overlay);
    making.catch(() => {
      making = null;
    });
    return making;
  };
  const base = tableQuestions(pool, bodies, (_at, query) => query(shape));
  const changed = new ChangedRecords(overlay.changed, base);
  const now = async () => (await side()).shape;
  const history = historyQuestions(pool, pack.id, folder, now, async () => ({
    removed: [...overlay.removed],
    gone: [...overlay.removed, ...changed.byId.keys()],
    changelog: await changed.changelogLines(),
  }));
  const past = historyUnder(overlay, changed.byId, history);
  const moments = new Moments({
    now,
    changes: async () => [...(await changeTimes(run, folder)), ...timesOf(overlay)],
    async build(at) {
      const stored = await makeMomentTables(run, pack, shape, folder, at);
      try {
        const then = overlayAt(pack, overlay, await past.past([...(await changed.byOrdinal()).keys()]), at);
        const tables = await makeChangedTables(run, pack, stored.shape, then);
        return { shape: tables.shape, drop: () => tables.drop().then(stored.drop) };
      } catch (error) {
        await stored.drop();
        throw error;
      }
    },
    queue: building,
  });
  return {
    ...tableQuestions(pool, bodies, moments.use),
    ...history,
    ...past,
    async bodies(ordinals, options) {
      const records = await changed.byOrdinal();
      const stored = ordinals.filter((ordinal) => !records.has(ordinal));
      const bodies = new Map((await base.bodies(stored, options)).map((body, i) => [stored[i]!, body]));
      return ordinals.map((ordinal) => {
        const changed = records.get(ordinal);
        return changed ? { body: JSON.stringify(changed.record), version: changed.version } : bodies.get(ordinal)!;
      });
    },
    withOverlay: (other) => overlayEngine(opened, other),
    close: async () => {
      moments.close();
      const tables = await making?.catch(() => null);
      await tables?.drop();
    },
  };
}

/** Times at which an overlay changes records: those of owners' facts and of decisions. */
function timesOf({ changed, decided }: AppliedOverlay): number[] {
  const facts = changed.flatMap((record) => record.facts);
  return [
    ...facts.filter(({ source_kind }) => source_kind === 'owner').map(({ observed_at }) => observed_at),
    ...[...decided.values()].flat().map(({ at }) => at),
  ];
}

/** The overlay as of a moment: its removals, and the records that it changes as they were. */
function overlayAt(
  pack: Pack,
  { version, removed }: AppliedOverlay,
  { records, readings }: Past,
  at: number,
): AppliedOverlay {
  const context = contextAt(pack, readings, at);
  const settled = records.map((past) => ({ id: past.id, ...settlePast(pack, past, context, at) }));
  const gone = settled.filter(({ record }) => record === null).map(({ id }) => id);
  return {
    version,
    removed: new Set([...removed, ...gone]),
    changed: settled.flatMap(({ record, unpublished }) =>
      record === null ? [] : [{ record, unpublished, version: '', facts: [], history: [], review: [] }],
    ),
    decided: new Map(),
  };
}

/** The records that an overlay changes, by id and by their ordinal in the release. */
class ChangedRecords {
  readonly byId: ReadonlyMap<string, ChangedRecord>;
  readonly #base: Pick<Engine, 'resolve'>;
  #records: Promise<Map<number, ChangedRecord>> | null = null;

  constructor(changed: readonly ChangedRecord[], base: Pick<Engine, 'resolve'>) {
    this.byId = new Map(changed.map((changedRecord) => [changedRecord.record.id, changedRecord]));
    this.#base = base;
  }

  /** Queries the release once; the next call retries after a failure. */
  byOrdinal(): Promise<Map<number, ChangedRecord>> {
    this.#records ??= this.#place();
    this.#records.catch(() => {
      this.#records = null;
    });
    return this.#records;
  }

  async #place(): Promise<Map<number, ChangedRecord>> {
    const ids = [...this.byId.keys()];
    const ordinals = await this.#base.resolve(ids);
    const pairs = ids.flatMap((id, i) => (ordinals[i] === null ? [] : [[ordinals[i], this.byId.get(id)!] as const]));
    return new Map(pairs as [number, ChangedRecord][]);
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

type Histories = Pick<Engine, 'facts' | 'openItems' | 'review' | 'origins' | 'past'>;

/** History queries that the overlay answers for the records it changes. */
function historyUnder(
  overlay: AppliedOverlay,
  changed: ReadonlyMap<string, ChangedRecord>,
  history: Histories,
): Histories {
  return {
    async facts(plan, options) {
      if (overlay.removed.has(plan.entity)) return [];
      const record = changed.get(plan.entity);
      if (!record) return history.facts(plan, options);
      const { attribute, since, limit } = plan;
      const facts = record.facts.filter(
        (fact) => (attribute === null || fact.attribute === attribute) && (since === null || fact.observed_at >= since),
      );
      return facts.sort(newestFirst).slice(0, limit);
    },
    async openItems(entity, options) {
      if (overlay.removed.has(entity)) return [];
      const record = changed.get(entity);
      if (!record) return history.openItems(entity, options);
      return record.review
        .filter(({ confirmed_at }) => confirmed_at === undefined)
        .map(({ kind, attribute, opened_at }) => ({ kind, attribute, opened_at: Date.parse(opened_at) }))
        .sort((a, b) => a.opened_at - b.opened_at || byCodePoint(a.attribute, b.attribute));
    },
    async review(plan, options) {
      const { entity, id, confirmed = false, limit } = plan;
      const items = [...changed.values()]
        .flatMap(({ review }) => review)
        .filter(({ confirmed_at }) => (confirmed_at !== undefined) === confirmed)
        .filter((item) => (entity === null || item.entity_id === entity) && (id === null || item.id === id));
      return [...(await history.review(plan, options)), ...items].sort(byOpening).slice(0, limit);
    },
    async origins(options) {
      const winners = [...changed.values()].flatMap(({ facts }) =>
        facts.filter(({ won, value }) => won && value !== null),
      );
      const counts = new Map((await history.origins(options)).map((one) => [`${one.attribute} ${one.source}`, one]));
      for (const { attribute, source } of winners) {
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
  const pool = new Pool(instance, queue ?? createQueryQueue(all), all.statement, connect);
  const run = (statement: Sql) => pool.alter(statement);
  const building = createQueryQueue({ ...all, running: 1 });
  const opened = { pool, pack, folder, shape, bodies, building };
  const moments = new Moments({
    now: async () => shape,
    changes: () => changeTimes(run, folder),
    build: (at) => makeMomentTables(run, pack, shape, folder, at),
    queue: building,
  });
  return {
    ...tableQuestions(pool, bodies, moments.use),
    ...historyQuestions(pool, pack.id, folder, async () => shape),
    withOverlay: (overlay) => overlayEngine(opened, overlay),
    close: () => pool.close(),
  };
}
