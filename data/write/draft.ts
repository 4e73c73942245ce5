// A release in the making: takes settled records and facts in the order of their ids, then ranks, dates and writes every file.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Pack } from '../../packs/model.ts';
import { RELEASE_FILES } from '../layout.ts';
import { Duck, fromLines, quoted } from './duck.ts';
import { LineWriter, NULL, readLines, Shelf } from './lines.ts';
import { writeRecords } from './ranked.ts';
import { bodyOf, csvOf, engineOf, type SettledRecord, termsOf } from './record.ts';
import * as tables from './tables.ts';

/** What a finished draft tells about itself. Paths are below its workspace. */
export interface Drafted {
  records: number;
  /** Rows by file name; null where rows mean nothing. `changes.parquet` is written later, when the release becomes visible. */
  rows: Record<string, number | null>;
  /** Parquet file with the differences from the release before, without times. */
  differences: { path: string; rows: number };
}

type Cell = string | number | boolean | null;

const cell = (value: Cell) => (value === null ? NULL : String(value));

export class Draft {
  readonly #pack: Pack;
  readonly #folder: string;
  readonly #lines: Record<'facts' | 'history' | 'listings' | 'readings' | 'review', LineWriter>;
  readonly #shelf: Shelf;
  readonly #quality: number[] = [];
  readonly #ids: string[] = [];

  /** Begins in an empty workspace folder, which it clears. */
  constructor(pack: Pack, folder: string) {
    this.#pack = pack;
    this.#folder = folder;
    rmSync(folder, { recursive: true, force: true });
    for (const each of ['out', 'lines', 'spill']) mkdirSync(join(folder, each), { recursive: true });
    const writer = (name: string) => new LineWriter(join(folder, 'lines', name));
    this.#lines = {
      facts: writer('facts'),
      history: writer('history'),
      listings: writer('listings'),
      readings: writer('readings'),
      review: writer('review'),
    };
    this.#shelf = new Shelf(join(folder, 'lines', 'shelf'));
  }

  /** Folder of the release's files. */
  get out(): string {
    return join(this.#folder, 'out');
  }

  /** Number that the next record will have; ids must come in ascending order. */
  get next(): number {
    return this.#ids.length;
  }

  /** Adds a line of one of the tables in tables.ts; null is NULL. */
  line(table: keyof typeof this.lineCounts, cells: readonly Cell[]): void {
    this.#lines[table].line(cells.map(cell).join('\t'));
  }

  /** Adds a line of settled facts: the fact's own line as it was stored, and the verdict on it. */
  fact(line: string, confirmed_at: number, won: boolean, reason: string): void {
    this.#lines.facts.line(`${line}\t${confirmed_at}\t${won}\t${reason}`);
  }

  get lineCounts(): Record<'facts' | 'history' | 'listings' | 'readings' | 'review', number> {
    const { facts, history, listings, readings, review } = this.#lines;
    return {
      facts: facts.lines,
      history: history.lines,
      listings: listings.lines,
      readings: readings.lines,
      review: review.lines,
    };
  }

  record(record: SettledRecord): void {
    this.#ids.push(record.id);
    this.#quality.push(record.quality);
    const pack = this.#pack;
    this.#shelf.put([
      bodyOf(pack, record),
      record.identity,
      csvOf(pack, record),
      engineOf(pack, record),
      termsOf(pack, record),
    ]);
  }

  /**
   * Ranks the records, finds what differs from the release before (a folder, or null), and writes every file but the change feed and
   * the manifest. `now` (milliseconds) is the `updated_at` of records with a difference.
   */
  async finish(before: string | null, now: number, log: (step: string) => void): Promise<Drafted> {
    for (const writer of Object.values(this.#lines)) writer.close();
    const duck = await Duck.open(join(this.#folder, 'spill'));
    try {
      return await this.#finish(duck, before, now, log);
    } finally {
      duck.close();
    }
  }

  async #finish(duck: Duck, before: string | null, now: number, log: (step: string) => void): Promise<Drafted> {
    const pack = this.#pack;
    const rows: Record<string, number | null> = {};
    const lines = (name: string) => join(this.#folder, 'lines', name);
    const out = (name: string) => join(this.out, name);
    const write = async (name: string, query: string, group?: number) => {
      rows[name] = await duck.parquet(query, out(name), group);
    };
    const facts = write(
      RELEASE_FILES.facts,
      tables.timed(lines('facts'), tables.FACT_LINES, ['observed_at', 'confirmed_at']),
    );

    log('ranking');
    const order = this.#rank();
    await this.#history(duck, order, rows);
    const fresh = join(this.#folder, 'differences.parquet');
    const earlier = before === null ? null : join(before, RELEASE_FILES.history);
    const differing = await duck.parquet(tables.differences(out(RELEASE_FILES.history), earlier), fresh);
    const updated = await this.#updated(duck, before, fresh, now);

    log('writing records');
    writeRecords({ pack, order, updated, shelf: this.#shelf, out: this.out, lines: join(this.#folder, 'lines') });
    rows[RELEASE_FILES.jsonl] = order.length;
    rows[RELEASE_FILES.csv] = order.length;
    const terms = `SELECT * FROM ${fromLines(lines('terms'), tables.TERM_LINES)} ORDER BY term, ord`;
    await Promise.all([
      facts,
      write(RELEASE_FILES.engine, tables.engineQuery(pack, lines('engine'))),
      write(RELEASE_FILES.terms, terms),
    ]);
    log('writing Parquet');
    await Promise.all([
      write(RELEASE_FILES.bodies, `SELECT * FROM ${fromLines(lines('bodies'), tables.BODY_LINES)}`, 2048),
      write(RELEASE_FILES.records, tables.recordsQuery(pack, out(RELEASE_FILES.jsonl))),
    ]);
    await write(RELEASE_FILES.public, tables.publicQuery(pack, out(RELEASE_FILES.records)));
    await write(RELEASE_FILES.listings, tables.timed(lines('listings'), tables.LISTING_LINES, ['at']));
    const readings = tables.timed(lines('readings'), tables.READING_LINES, ['observed_at']);
    await write(RELEASE_FILES.readings, `${readings} ORDER BY observed_at, source, package, version`);
    const review = tables.timed(lines('review'), tables.REVIEW_LINES, ['opened_at']);
    await write(RELEASE_FILES.review, `${review} ORDER BY opened_at, id`);
    return { records: order.length, rows, differences: { path: fresh, rows: differing } };
  }

  /** Record numbers by quality, best first; ties by id. */
  #rank(): Uint32Array {
    const order = Uint32Array.from(this.#ids, (_, i) => i);
    return order.sort((a, b) => this.#quality[b]! - this.#quality[a]! || a - b);
  }

  async #history(duck: Duck, order: Uint32Array, rows: Record<string, number | null>): Promise<void> {
    const ords = new LineWriter(join(this.#folder, 'lines', 'ords'));
    order.forEach((record, ord) => {
      ords.line(`${record}\t${ord}`);
    });
    ords.close();
    const history = fromLines(join(this.#folder, 'lines', 'history'), tables.HISTORY_LINES);
    const query =
      'SELECT ord, entity, attribute, value, old_value, min, max, make_timestamp_ms("from") AS "from", ' +
      `make_timestamp_ms("to") AS "to", source_url FROM ${history} LEFT JOIN ` +
      `${fromLines(ords.path, { record: 'UINTEGER', ord: 'UINTEGER' })} USING (record) ORDER BY attribute, entity, "from"`;
    rows[RELEASE_FILES.history] = await duck.parquet(query, join(this.out, RELEASE_FILES.history), 122_880);
  }

  /** When each record last changed: now where it differs from the release before, else what that release said. */
  async #updated(duck: Duck, before: string | null, fresh: string, now: number): Promise<Float64Array> {
    const updated = new Float64Array(this.#ids.length).fill(now);
    if (before === null) return updated;
    const engine = quoted(join(before, RELEASE_FILES.engine));
    const path = join(this.#folder, 'lines', 'updated');
    await duck.lines(
      `SELECT id, updated FROM read_parquet(${engine}) WHERE id NOT IN (SELECT entity_id FROM read_parquet(${quoted(fresh)})) ORDER BY id`,
      path,
    );
    const kept = new Map<string, number>();
    for (const line of readLines(path)) {
      const [id = '', at = ''] = line.split('\t');
      kept.set(id, Number(at));
    }
    this.#ids.forEach((id, i) => {
      updated[i] = kept.get(id) ?? now;
    });
    return updated;
  }
}
