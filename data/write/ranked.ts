// The second pass of a release: takes the records from their shelf, best first, and writes bodies, JSONL, CSV, engine rows and terms.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { type ClosedShelf, LineWriter, takeFrom } from '../duckdb/lines.ts';
import { RELEASE_FILES } from '../model/layout.ts';
import { isoTime } from '../model/time.ts';
import { csvHeader, csvRow } from './csv.ts';
import { UPDATED } from './record.ts';

interface Ranked {
  pack: Pack;
  /** Places on the shelves, counted through all of them, best first. */
  order: Uint32Array;
  /** Milliseconds since 1970 by place. */
  updated: Float64Array;
  shelves: readonly ClosedShelf[];
  /** The release's folder, and the one for lines that become Parquet. */
  out: string;
  lines: string;
}

const PLACEHOLDER = Buffer.from(`"updated_at":"${UPDATED}"`);

/** Writes records.jsonl and records.csv, and the lines `engine`, `terms` and `bodies` (what stands beside a body) for DuckDB. */
export function writeRecords({ pack, order, updated, shelves, out, lines }: Ranked): void {
  const jsonl = new LineWriter(join(out, RELEASE_FILES.jsonl));
  const csv = new LineWriter(join(out, RELEASE_FILES.csv));
  const engine = new LineWriter(join(lines, 'engine'));
  const terms = new LineWriter(join(lines, 'terms'));
  const bodies = new LineWriter(join(lines, 'bodies'));
  csv.line(`${csvRow(csvHeader(pack))}\r`);
  let ord = 0;
  for (const entry of takeFrom(shelves, order)) {
    const at = updated[order[ord]!]!;
    const end = entry.indexOf(10);
    const body = dated(entry.subarray(0, end), at);
    const [identity = '', row = '', engineRow = '', words = ''] = entry.toString('utf8', end + 1).split('\n');
    jsonl.bytes(body, false);
    jsonl.line('');
    const version = createHash('sha256').update(body).digest('hex').slice(0, 16);
    const id = engineRow.slice(0, engineRow.indexOf('\t'));
    bodies.line(`${ord}\t${id}\t${version}\t${identity}`);
    csv.line(`${row},${isoTime(at)}\r`);
    engine.line(`${ord}\t${at}\t${engineRow}`);
    writeTerms(terms, words, ord);
    ord++;
  }
  for (const writer of [jsonl, csv, engine, terms, bodies]) writer.close();
}

/** The body with its true `updated_at`. */
function dated(body: Buffer, at: number): Buffer {
  const start = body.indexOf(PLACEHOLDER);
  const time = Buffer.from(`"updated_at":"${isoTime(at)}"`);
  return Buffer.concat([body.subarray(0, start), time, body.subarray(start + PLACEHOLDER.length)]);
}

function writeTerms(terms: LineWriter, words: string, ord: number): void {
  if (words === '') return;
  const parts = words.split('\t');
  for (let i = 0; i < parts.length; i += 3) terms.line(`${parts[i]}\t${ord}\t${parts[i + 1]}\t${parts[i + 2]}`);
}
