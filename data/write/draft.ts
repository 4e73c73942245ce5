// A release in the making: takes settled records and verdicts in the order of the records' ids, then ranks, dates and writes every file.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Pack } from '../../packs/model.ts';
import { RELEASE_FILES } from '../layout.ts';
import { publicQuery, recordsQuery } from './analysts.ts';
import { changelogQuery } from './changelog.ts';
import { differences } from './changes.ts';
import { Duck, fromLines, quoted } from './duck.ts';
import { kept, LineWriter, NULL, readLines, Shelf } from './lines.ts';
import { writeRecords } from './ranked.ts';
import { bodyOf, csvOf, engineOf, type SettledRecord, termsOf } from './record.ts';
import * as tables from './tables.ts';

/** Tables that come as lines, each with its columns in tables.ts. */
const TABLES = ['verdicts', 'history', 'listings', 'readings', 'review'] as const;
type Table = (typeof TABLES)[number];

type Cell = string | number | boolean | null;

export class Draft {
  readonly #pack: Pack;
  readonly #folder: string;
  readonly #lines: Record<Table, LineWriter>;
  readonly #shelf: Shelf;
  /** Ids of all records ever seen, in order, with their place on the shelf or nothing. */
  readonly #ids: LineWriter;
  /** By place on the shelf. */
  readonly #quality: number[] = [];
  /** Facts with a verdict. */
  facts = 0;

  /** Begins in a workspace folder, which it clears. */
  constructor(pack: Pack, folder: string) {
    this.#pack = pack;
    this.#folder = folder;
    rmSync(folder, { recursive: true, force: true });
    for (const each of ['out', 'lines', 'spill']) mkdirSync(join(folder, each), { recursive: true });
    const writers = TABLES.map((name) => [name, new LineWriter(this.#file(name))] as const);
    this.#lines = Object.fromEntries(writers) as Record<Table, LineWriter>;
    this.#shelf = new Shelf(this.#file('shelf'));
    this.#ids = new LineWriter(this.#file('ids'));
  }

  /** Folder of the release's files. */
  get out(): string {
    return join(this.#folder, 'out');
  }

  /** Open questions so far. */
  get review(): number {
    return this.#lines.review.lines;
  }

  /** Published records so far. */
  get records(): number {
    return this.#shelf.size;
  }

  /** Lines of sorted facts, which the caller writes (STORED_LINES). */
  get stored(): string {
    return this.#file('stored');
  }

  #file(name: string): string {
    return join(this.#folder, 'lines', name);
  }

  /** Adds a line to one of the tables; null is NULL. */
  line(table: Exclude<Table, 'verdicts'>, cells: readonly Cell[]): void {
    this.#lines[table].line(cells.map((value) => (value === null ? NULL : String(value))).join('\t'));
  }

  /** The verdict on the next stored fact; null: it is not a fact of this release. */
  verdict(verdict: { confirmed_at: number; won: boolean; reason: string } | null): void {
    if (verdict === null) this.#lines.verdicts.line(`${NULL}\t${NULL}\t${NULL}`);
    else {
      this.#lines.verdicts.line(`${verdict.confirmed_at}\t${verdict.won}\t${verdict.reason}`);
      this.facts++;
    }
  }

  /** Adds the next record, in ascending order of ids; null: nothing of it is published. Gives its number. */
  record(id: string, record: SettledRecord | null): number {
    const number = this.#ids.lines;
    this.#ids.line(`${id}\t${record === null ? '' : this.#shelf.size}`);
    if (record === null) return number;
    const pack = this.#pack;
    this.#quality.push(record.quality);
    this.#shelf.put([
      bodyOf(pack, record),
      record.identity,
      csvOf(pack, record),
      engineOf(pack, record),
      termsOf(pack, record),
    ]);
    return number;
  }

  /**
   * Ranks the records, finds which differ from the release before (a folder, or null), and writes every file but the change feed and the
   * manifest. `now` (milliseconds) is the `updated_at` of records with a difference. Tells the rows by file name.
   */
  async finish(
    names: tables.Names,
    before: string | null,
    now: number,
    log: (step: string) => void,
  ): Promise<Record<string, number>> {
    for (const writer of [...Object.values(this.#lines), this.#ids]) writer.close();
    const duck = await Duck.open(join(this.#folder, 'spill'));
    try {
      return await this.#finish(duck, names, before, now, log);
    } finally {
      duck.close();
    }
  }

  async #finish(
    duck: Duck,
    names: tables.Names,
    before: string | null,
    now: number,
    log: (step: string) => void,
  ): Promise<Record<string, number>> {
    const pack = this.#pack;
    const rows: Record<string, number> = {};
    const lines = (name: string) => this.#file(name);
    const out = (name: string) => join(this.out, name);
    const write = async (name: string, query: string, group?: number) => {
      rows[name] = await duck.parquet(query, out(name), group);
    };
    const order = this.#rank();
    this.#number(order);
    log('write facts');
    await Promise.all([
      write(RELEASE_FILES.facts, tables.factsQuery(this.stored, lines('verdicts'), names)),
      write(RELEASE_FILES.history, tables.historyQuery(lines('history'), lines('records'), names.attributes), 122_880),
    ]);
    const updated = await this.#updated(duck, before, now);

    log('write records');
    writeRecords({ pack, order, updated, shelf: this.#shelf, out: this.out, lines: join(this.#folder, 'lines') });
    rows[RELEASE_FILES.jsonl] = order.length;
    rows[RELEASE_FILES.csv] = order.length;
    log('write Parquet');
    const terms = `SELECT * FROM ${fromLines(lines('terms'), tables.TERM_LINES)} ORDER BY term, ord`;
    const readings = tables.timed(lines('readings'), tables.READING_LINES, ['observed_at']);
    const review = tables.timed(lines('review'), tables.REVIEW_LINES, ['opened_at']);
    await Promise.all([
      (async () => {
        await write(RELEASE_FILES.records, recordsQuery(pack, out(RELEASE_FILES.jsonl)));
        await write(RELEASE_FILES.public, publicQuery(pack, out(RELEASE_FILES.records)));
      })(),
      (async () => {
        await write(RELEASE_FILES.bodies, tables.bodiesQuery(lines('bodies'), out(RELEASE_FILES.jsonl)), 2048);
        await write(RELEASE_FILES.engine, tables.engineQuery(pack, lines('engine')));
        await write(RELEASE_FILES.terms, terms);
        await write(RELEASE_FILES.listings, tables.timed(lines('listings'), tables.LISTING_LINES, ['at']));
        await write(RELEASE_FILES.readings, `${readings} ORDER BY observed_at, source, package, version`);
        await write(RELEASE_FILES.changelog, changelogQuery(this.out));
        await write(RELEASE_FILES.review, `${review} ORDER BY opened_at, id`);
      })(),
    ]);
    return rows;
  }

  /** Places on the shelf by quality, best first; ties by id. */
  #rank(): Uint32Array {
    const order = Uint32Array.from(this.#quality, (_, i) => i);
    return order.sort((a, b) => this.#quality[b]! - this.#quality[a]! || a - b);
  }

  /** Writes which ordinal each record got. */
  #number(order: Uint32Array): void {
    const ords = new Uint32Array(order.length);
    order.forEach((place, ord) => {
      ords[place] = ord;
    });
    const writer = new LineWriter(this.#file('records'));
    let number = 0;
    for (const { id, place } of this.#records())
      writer.line(`${number++}\t${id}\t${place === null ? NULL : ords[place]}`);
    writer.close();
  }

  /** When each record on the shelf last changed: now where it differs from the release before, else what that release said. */
  async #updated(duck: Duck, before: string | null, now: number): Promise<Float64Array> {
    const updated = new Float64Array(this.#quality.length).fill(now);
    if (before === null) return updated;
    const engine = quoted(join(before, RELEASE_FILES.engine));
    const changed = `SELECT entity_id FROM (${differences(this.out, before)})`;
    const path = this.#file('updated');
    await duck.lines(`SELECT id, updated FROM read_parquet(${engine}) WHERE id NOT IN (${changed})`, path);
    const stays = new Map<string, number>();
    for (const line of readLines(path)) {
      const [id = '', at = ''] = line.split('\t');
      stays.set(kept(id), Number(at));
    }
    for (const { id, place } of this.#records()) if (place !== null) updated[place] = stays.get(id) ?? now;
    return updated;
  }

  *#records(): Generator<{ id: string; place: number | null }> {
    for (const line of readLines(this.#ids.path)) {
      const [id = '', place = ''] = line.split('\t');
      yield { id, place: place === '' ? null : Number(place) };
    }
  }
}
