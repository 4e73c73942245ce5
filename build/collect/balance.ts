// The balance of a run: what became of each cell that the declared sources have.
import { join } from 'node:path';
import { Duck, quotedText } from '../../data/duckdb/duck.ts';
import { paths, RELEASE_FILES } from '../../data/model/layout.ts';
import type { Attribute, Observed, Pack } from '../../packs/define/model.ts';
import { columnOf, type DeclaringSource } from '../sources/rows.ts';

/** What became of a cell, in the order in which it is printed. */
const OUTCOMES = {
  published: 'published',
  confirmed: 'confirmed unchanged',
  lost: 'lost to another source or held',
  missing: 'missing',
  rejected: 'rejected',
  dropped: 'dropped by rule',
  unmapped: 'in columns not mapped',
} as const;
export type CellOutcome = keyof typeof OUTCOMES;

/** Words of a run that publishes nothing new. */
export const REFUSED = { published: 'held in the refused release' };
export const STOPPED = { published: 'new and not added', confirmed: 'unchanged and not added' };

/** Cells of one source in a run. */
export interface Balance {
  /** Cells of all rows, those that could not be read as rows included. */
  read: number;
  outcomes: Record<CellOutcome, number>;
  /** By attribute: its columns, and its cells among the published ones. */
  attributes: { columns: number; published: number }[];
}

/**
 * Columns that each attribute is read from, so that each cell is counted once: two for a point, none for a constant,
 * a function, and a column that an attribute before reads.
 */
function columnsByAttribute(
  attributes: readonly Attribute[],
  source: DeclaringSource,
  columns: readonly string[],
): number[] {
  const counted = new Set<string>();
  return attributes.map(({ name }) => {
    const rule = source.from.attributes[name];
    const isPoint = typeof rule === 'object' && 'lat' in rule;
    const columnsRead = isPoint ? [rule.lat, rule.lng] : [columnOf(source, name)];
    const uncounted = columnsRead.filter(
      (column) => column !== undefined && columns.includes(column) && !counted.has(column),
    );
    for (const column of uncounted) counted.add(column!);
    return uncounted.length;
  });
}

/** Rows of one version, and cells without a value or with a wrong one, by attribute. */
interface VersionCells {
  source: DeclaringSource;
  /** Grows while the rows of JSON are read. */
  columns: readonly string[];
  rows: { kept: number; dropped: number; broken: number };
  missing: number[];
  rejected: number[];
}

/** Outcomes of observed values. */
const TAKEN = ['published', 'confirmed', 'rejected'] as const;
type TakenOutcome = (typeof TAKEN)[number];

/** Counts the cells of the declared sources, one reading after the other. */
export class CellCounter {
  /** By source. */
  readonly balances = new Map<string, Balance>();
  readonly #attributes: readonly Attribute[];
  #versions: VersionCells[] = [];
  /** Values of the reading by outcome and attribute. */
  #taken: Record<TakenOutcome, number[]> = { published: [], confirmed: [], rejected: [] };

  constructor(attributes: readonly Attribute[]) {
    this.#attributes = attributes;
  }

  #zeros = (): number[] => this.#attributes.map(() => 0);

  beginReading(): void {
    this.#versions = [];
    for (const outcome of TAKEN) this.#taken[outcome] = this.#zeros();
  }

  beginVersion(source: DeclaringSource, columns: readonly string[]): void {
    const rows = { kept: 0, dropped: 0, broken: 0 };
    this.#versions.push({ source, columns, rows, missing: this.#zeros(), rejected: this.#zeros() });
  }

  /** Adds rows of the version: those that became an observation, that a rule dropped, or that were broken. */
  rows(kept: number, dropped: number, broken: number): void {
    const { rows } = this.#versions.at(-1)!;
    rows.kept += kept;
    rows.dropped += dropped;
    rows.broken += broken;
  }

  /** Adds a cell of the version that has no value, or one that cannot be read. */
  unread(outcome: 'missing' | 'rejected', attribute: number): void {
    this.#versions.at(-1)![outcome][attribute]!++;
  }

  /** Adds an observed value. */
  take(outcome: TakenOutcome, attribute: number): void {
    this.#taken[outcome][attribute]!++;
  }

  /** Adds the values of an observation that gives no record. */
  rejectAll(observed: Observed | undefined): void {
    const values: Observed['values'] | undefined = observed?.values;
    this.#attributes.forEach(({ name }, i) => {
      if (values?.[name] !== undefined && values[name] !== null) this.take('rejected', i);
    });
  }

  /**
   * Adds the reading to the balance of its source. A collector may leave out cells, and yield values that are no
   * cells: of each attribute, no more values are counted than its cells.
   */
  endReading(): void {
    const open = this.#zeros();
    for (const version of this.#versions) this.#addVersion(version, open);
    const source = this.#versions[0]?.source.id;
    this.#versions = [];
    if (source === undefined) return;
    const { outcomes, attributes } = this.balances.get(source)!;
    for (const [i, attribute] of attributes.entries()) {
      for (const outcome of TAKEN) {
        const cells = Math.min(open[i]!, this.#taken[outcome][i]! * attribute.columns);
        outcomes[outcome] += cells;
        if (outcome === 'published') attribute.published += cells;
        open[i]! -= cells;
      }
      outcomes.dropped += open[i]!;
    }
  }

  /** Adds a version; `open` gets the cells of each attribute that were read as a value. */
  #addVersion({ source, columns, rows, missing, rejected }: VersionCells, open: number[]): void {
    const balance = this.balances.get(source.id) ?? this.#empty();
    this.balances.set(source.id, balance);
    const { outcomes } = balance;
    balance.read += (rows.kept + rows.dropped + rows.broken) * columns.length;
    outcomes.dropped += rows.dropped * columns.length;
    outcomes.rejected += rows.broken * columns.length;
    outcomes.unmapped += rows.kept * columns.length;
    for (const [i, count] of columnsByAttribute(this.#attributes, source, columns).entries()) {
      balance.attributes[i]!.columns = Math.max(balance.attributes[i]!.columns, count);
      outcomes.unmapped -= rows.kept * count;
      outcomes.missing += missing[i]! * count;
      outcomes.rejected += rejected[i]! * count;
      open[i]! += (rows.kept - missing[i]! - rejected[i]!) * count;
    }
  }

  #empty(): Balance {
    return {
      read: 0,
      outcomes: { published: 0, confirmed: 0, lost: 0, missing: 0, rejected: 0, dropped: 0, unmapped: 0 },
      attributes: this.#attributes.map(() => ({ columns: 0, published: 0 })),
    };
  }
}

/** Reasons of facts that are not published because another fact is, or because they wait. */
const LOST = ['less_trusted', 'older_reading', 'later', 'below_floor', 'held', 'owner_overrides', 'rejected'];

/** A run, and the release that was drafted from its facts. */
interface DraftedRun {
  run: string;
  dataDir: string;
  /** Folder of the release. */
  draft: string;
  /** Ids of opted-out records. */
  removed: readonly string[];
  workspace: string;
}

/** Moves new values that are not in the release to the lost ones: another source's is, or they are held or opted out. */
export async function settleLost(
  balances: ReadonlyMap<string, Balance>,
  { id, attributes }: Pack,
  { run, dataDir, draft, removed, workspace }: DraftedRun,
): Promise<void> {
  if (balances.size === 0) return;
  const factsOf = (path: string, column: string, values: readonly string[]) =>
    `SELECT source, attribute, count(DISTINCT entity) FROM read_parquet(${quotedText(path)}) WHERE run = ${quotedText(run)} ` +
    `AND value IS NOT NULL AND ${column} IN (${['', ...values].map(quotedText).join(', ')}) GROUP BY ALL`;
  const duck = await Duck.open(join(workspace, 'balance'));
  try {
    const rows = await duck.rows(
      `${factsOf(join(draft, RELEASE_FILES.facts), 'reason', LOST)} UNION ALL ` +
        factsOf(join(paths.facts(dataDir, id), `${run}.facts.parquet`), 'entity', removed),
    );
    for (const [source, attribute, count] of rows) {
      const balance = balances.get(String(source));
      const cells = balance?.attributes[attributes.findIndex(({ name }) => name === attribute)];
      if (balance === undefined || cells === undefined) continue;
      const lost = Math.min(cells.published, Number(count) * cells.columns);
      cells.published -= lost;
      balance.outcomes.published -= lost;
      balance.outcomes.lost += lost;
    }
  } finally {
    duck.close();
  }
}

/** One sentence for each source, with its sum; `words` replaces those of some outcomes. */
export function balanceLines(
  balances: ReadonlyMap<string, Balance>,
  words: Partial<Record<CellOutcome, string>> = {},
): string[] {
  return [...balances].map(([source, { read, outcomes }]) => {
    const parts = Object.entries({ ...OUTCOMES, ...words })
      .map(([outcome, text]) => [outcomes[outcome as CellOutcome], text] as const)
      .filter(([count]) => count !== 0)
      .map(([count, text]) => `${count.toLocaleString('en-US')} ${text}`);
    return `${source}: ${read.toLocaleString('en-US')} cells read = ${parts.join(' + ') || '0'}`;
  });
}
