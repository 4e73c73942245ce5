// Drafts of releases: combines the parts, ranks and dates the records, and writes every file.
import { hash } from 'node:crypto';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pack } from '../../packs/define/model.ts';
import { Duck, quotedText, rowGroup } from '../duckdb/duck.ts';
import { type ClosedShelf, copyText, LineWriter, NULL, readLines, takeFrom } from '../duckdb/lines.ts';
import { RELEASE_FILES } from '../model/layout.ts';
import { isoTime } from '../model/time.ts';
import { publicQuery, recordsQuery } from './analysts.ts';
import { differences } from './changes.ts';
import { csvHeader, csvRow } from './csv.ts';
import type { ReadingRow } from './facts.ts';
import { linesOf, type PartFiles } from './part.ts';
import type { PreviousRelease } from './previous-release.ts';
import { UPDATED_PLACEHOLDER } from './record.ts';
import * as tables from './tables.ts';

/** Inputs of a draft besides its parts. */
export interface DraftInput {
  pack: Pack;
  names: tables.Names;
  /** The facts of the stored lines, in their order, as a query; null: only the lines have this order. */
  facts: string | null;
  /** The valid readings. */
  readings: readonly ReadingRow[];
  /** The previous release, or null. */
  before: PreviousRelease | null;
  /** `updated_at` of records that differ from the previous release, in milliseconds. */
  now: number;
  /** Metadata of `records.parquet` (`recordsNotes`). */
  notes: Record<string, string>;
  /** Called when the files exist from which the index is built, with the number of records. */
  indexable: (records: number) => void;
  log: (step: string) => void;
}

export class Draft {
  readonly #folder: string;

  /** Starts in a workspace folder, which is cleared. */
  constructor(folder: string) {
    this.#folder = folder;
    rmSync(folder, { recursive: true, force: true });
    for (const name of ['out', 'lines']) mkdirSync(join(folder, name), { recursive: true });
  }

  /** Folder of the release's files. */
  get out(): string {
    return join(this.#folder, 'out');
  }

  /** File of sorted facts (STORED_LINES), written by the caller. */
  get stored(): string {
    return this.#file('stored');
  }

  /** Folder for the lines of a part. */
  part(number: number): string {
    return join(this.#folder, 'parts', String(number));
  }

  #file(name: string): string {
    return join(this.#folder, 'lines', name);
  }

  /**
   * Writes every file except the change feed and the manifest, from parts in the order of their records.
   * Returns the number of rows by file name.
   */
  async finish(parts: readonly PartFiles[], drafting: DraftInput): Promise<Record<string, number>> {
    // Two statements run at once.
    const duck = await Duck.open(join(this.#folder, 'spill'), 1);
    try {
      return await this.#finish(duck, parts, drafting);
    } finally {
      duck.close();
    }
  }

  async #finish(duck: Duck, parts: readonly PartFiles[], drafting: DraftInput): Promise<Record<string, number>> {
    const { pack, names, before, log } = drafting;
    const rows: Record<string, number> = {};
    const filesOf = (table: Parameters<typeof linesOf>[1]) => parts.map(({ folder }) => linesOf(folder, table));
    const out = (name: string) => join(this.out, name);
    const write = async (name: string, query: string, group?: number, notes?: Record<string, string>) => {
      rows[name] = await duck.parquet(query, out(name), group, notes);
    };
    const order = rank(parts);
    this.#number(parts, order);
    const { attributes } = names;
    log('write facts');
    const history = write(
      RELEASE_FILES.history,
      tables.historyQuery(filesOf('history'), this.#file('records'), attributes),
      122_880,
    );
    // Parquet is read in less than half the time of lines.
    const stored = drafting.facts ?? tables.storedQuery(this.stored, names);
    const facts = write(RELEASE_FILES.facts, tables.factsQuery(stored, filesOf('verdicts')));
    // Prevents an unhandled rejection when another step fails first.
    facts.catch(() => {});
    // Changes since the previous release are computed from the histories of both; without one there is
    // nothing to wait for.
    if (before !== null) await history;
    history.catch(() => {});
    const updated = await this.#updated(duck, parts, drafting);

    log('write records');
    const shelves = parts.map(({ folder, starts }) => ({ path: linesOf(folder, 'shelf'), starts }));
    // DuckDB's threads write facts and history in the meantime.
    await writeRecords({ pack, order, updated, shelves, out: this.out, lines: join(this.#folder, 'lines') });
    // More statements at once on the same processors need more processor time.
    await Promise.all([facts, history]);
    rows[RELEASE_FILES.jsonl] = order.length;
    rows[RELEASE_FILES.csv] = order.length;
    log('write Parquet');
    const terms = tables.termsQuery(filesOf('terms'), this.#file('records'));
    const review = tables.withTimestamps(filesOf('review'), tables.REVIEW_LINES, ['opened_at', 'confirmed_at']);
    const longest = Math.max(0, ...parts.map((part) => part.longest)) + MOST_DIGITS;
    const groupOf = (path: string) => rowGroup(statSync(path).size, order.length);
    const group = groupOf(out(RELEASE_FILES.jsonl));
    const writers = [
      async () => {
        await write(
          RELEASE_FILES.records,
          recordsQuery(pack, out(RELEASE_FILES.jsonl), longest),
          group,
          drafting.notes,
        );
        await write(RELEASE_FILES.public, publicQuery(pack, out(RELEASE_FILES.records)), group);
      },
      async () => {
        const bodies = tables.bodiesQuery(this.#file('bodies'), out(RELEASE_FILES.jsonl), longest);
        await write(RELEASE_FILES.bodies, bodies, 2048);
        await write(
          RELEASE_FILES.engine,
          tables.engineQuery(pack, this.#file('engine'), longest),
          groupOf(this.#file('engine')),
        );
        await write(RELEASE_FILES.terms, terms);
        drafting.indexable(order.length);
        await write(RELEASE_FILES.past_terms, tables.pastTermsQuery(filesOf('past_terms'), this.#file('records')));
        const moments = tables.momentsQuery(pack, filesOf('moments'), this.#file('records'), longest);
        await write(RELEASE_FILES.moments, moments);
        await write(RELEASE_FILES.listings, tables.withTimestamps(filesOf('listings'), tables.LISTING_LINES, ['at']));
        await write(RELEASE_FILES.readings, this.#readings(drafting.readings));
        await write(RELEASE_FILES.review, `${review} ORDER BY opened_at, id`);
        await write(RELEASE_FILES.changelog, changelogQuery(this.out));
      },
    ];
    await Promise.all(writers.map((writer) => writer()));
    return rows;
  }

  /** Writes the lines of the readings; returns them as a query. */
  #readings(readings: readonly ReadingRow[]): string {
    const writer = new LineWriter(this.#file('readings'));
    for (const { source, package: pkg, version, confirmed_at, date_source } of readings)
      writer.line([source, pkg, version, confirmed_at, date_source].join('\t'));
    writer.close();
    const query = tables.withTimestamps([writer.path], tables.READING_LINES, ['observed_at']);
    return `${query} ORDER BY observed_at, source, package, version`;
  }

  /** Writes the ordinal of each record. */
  #number(parts: readonly PartFiles[], order: Uint32Array): void {
    const ords = new Uint32Array(order.length);
    order.forEach((place, ord) => {
      ords[place] = ord;
    });
    const writer = new LineWriter(this.#file('records'));
    for (const { id, number, place } of records(parts))
      writer.line(`${number}\t${id}\t${place === null ? NULL : ords[place]}`);
    writer.close();
  }

  /** Time of the last change of each record, by place: `now` for changed records, else the known one. */
  async #updated(duck: Duck, parts: readonly PartFiles[], { pack, before, now }: DraftInput): Promise<Float64Array> {
    const updated = new Float64Array(sum(parts)).fill(now);
    if (before === null) return updated;
    const engine = quotedText(join(before.folder, RELEASE_FILES.engine));
    const changed = `SELECT entity_id FROM (${differences(this.out, before, pack)})`;
    const path = this.#file('updated');
    await duck.lines(`SELECT id, updated FROM read_parquet(${engine}) WHERE id NOT IN (${changed})`, path);
    const stays = new Map<string, number>();
    for (const line of readLines(path)) {
      const [id = '', at = ''] = line.split('\t');
      const entity = copyText(id);
      const changes = before.since.get(entity);
      stays.set(entity, changes && !changes.gone ? Math.floor(changes.recorded_at / 1000) : Number(at));
    }
    for (const { id, place } of records(parts)) if (place !== null) updated[place] = stays.get(id) ?? now;
    return updated;
  }
}

/** Bytes of the numbers in front of a line of the engine table. */
const MOST_DIGITS = 40;

const sum = (parts: readonly PartFiles[]) => parts.reduce((total, { quality }) => total + quality.length, 0);

/** Places on the shelves, numbered across all parts, by quality descending, ties by id. */
function rank(parts: readonly PartFiles[]): Uint32Array {
  const quality = new Float64Array(sum(parts));
  let at = 0;
  for (const part of parts) {
    quality.set(part.quality, at);
    at += part.quality.length;
  }
  return Uint32Array.from(quality, (_, i) => i).sort((a, b) => quality[b]! - quality[a]! || a - b);
}

/**
 * All records ever observed, in the order of ids; `place` on the shelves, numbered across all parts, or null.
 */
function* records(parts: readonly PartFiles[]): Generator<{ id: string; number: number; place: number | null }> {
  let before = 0;
  for (const { folder, first, quality } of parts) {
    let number = first;
    for (const line of readLines(linesOf(folder, 'ids'))) {
      const [id = '', place = ''] = line.split('\t');
      yield { id, number: number++, place: place === '' ? null : before + Number(place) };
    }
    before += quality.length;
  }
}

/**
 * Days before the newest reading in the changelog: one more than clients may request, since readings are in
 * the past.
 */
const DAYS = 366;

/**
 * Rows of changelog.parquet for the release in `folder`, whose history, engine table and readings exist.
 * Sorted, so that a page is a range of rows: at equal times the best records first.
 */
function changelogQuery(folder: string): string {
  const table = (file: string) => `read_parquet(${quotedText(join(folder, file))})`;
  const begin = `(SELECT max(observed_at) - INTERVAL ${DAYS} DAY FROM ${table(RELEASE_FILES.readings)})`;
  return (
    `SELECT h.ord, entity AS entity_id, slug, name, attribute, CASE WHEN old_value IS NULL THEN 'added' ELSE 'changed' END AS type, ` +
    `old_value, value AS new_value, "from" AS observed_at, source_url FROM ${table(RELEASE_FILES.history)} h ` +
    `LEFT JOIN ${table(RELEASE_FILES.engine)} e ON e.ord = h.ord WHERE "from" >= ${begin} ` +
    'ORDER BY observed_at DESC, h.ord NULLS LAST, entity_id, attribute'
  );
}

interface Ranked {
  pack: Pack;
  /** Places on the shelves, numbered across all, best first. */
  order: Uint32Array;
  /** Milliseconds since 1970 by place. */
  updated: Float64Array;
  shelves: readonly ClosedShelf[];
  /** Folder of the release, and folder for lines that become Parquet. */
  out: string;
  lines: string;
}

/** Records between two turns of the event loop: about 20 ms. */
const TURN = 1000;

/**
 * Second pass: writes records.jsonl and records.csv, best record first, and the lines `engine` and `bodies`
 * (the columns besides the body) for DuckDB.
 */
async function writeRecords({ pack, order, updated, shelves, out, lines }: Ranked): Promise<void> {
  const jsonl = new LineWriter(join(out, RELEASE_FILES.jsonl));
  const csv = new LineWriter(join(out, RELEASE_FILES.csv));
  const engine = new LineWriter(join(lines, 'engine'));
  const bodies = new LineWriter(join(lines, 'bodies'));
  csv.line(`${csvRow(csvHeader(pack))}\r`);
  let ord = 0;
  for (const entry of takeFrom(shelves, order)) {
    // Statements of DuckDB that were started before begin only when the event loop turns.
    if (ord % TURN === 0) await nextTurn();
    const at = updated[order[ord]!]!;
    const time = isoTime(at);
    const bodyEnd = entry.indexOf(LINE_FEED);
    const identityEnd = entry.indexOf(LINE_FEED, bodyEnd + 1);
    const rowEnd = entry.indexOf(LINE_FEED, identityEnd + 1);
    const idEnd = entry.indexOf(TAB, identityEnd + 1);
    const id = entry.toString('latin1', identityEnd + 1, idEnd);
    const identity = entry.toString('utf8', bodyEnd + 1, identityEnd);
    csv.bytes(entry.subarray(rowEnd + 1, -1), false);
    csv.line(`,${time}\r`);
    engine.text(`${ord}\t${at}\t`);
    engine.bytes(entry.subarray(identityEnd + 1, rowEnd + 1), true);
    const body = dated(entry.subarray(0, bodyEnd + 1), time);
    jsonl.bytes(body, true);
    const version = hash('sha256', body.subarray(0, -1), 'hex').slice(0, 16);
    bodies.line(`${ord}\t${id}\t${version}\t${identity}`);
    ord++;
  }
  for (const writer of [jsonl, csv, engine, bodies]) writer.close();
}

const [LINE_FEED, TAB] = [10, 9];

const UPDATED = '"updated_at":"';
const PLACEHOLDER = Buffer.from(`${UPDATED}${UPDATED_PLACEHOLDER}"`);

/** The line of a body with its `updated_at`. Changes the bytes: the time is at most as long as the placeholder. */
function dated(line: Buffer, time: string): Buffer {
  const start = line.indexOf(PLACEHOLDER) + UPDATED.length;
  const moved = UPDATED_PLACEHOLDER.length - time.length;
  line.copyWithin(moved, 0, start);
  line.write(time, start + moved, 'latin1');
  return line.subarray(moved);
}
