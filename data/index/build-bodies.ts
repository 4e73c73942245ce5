// Packs the arrays that locate and split the bodies of a release in records.jsonl (layout: bodies.ts).
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Duck, quotedText } from '../duckdb/duck.ts';
import { RELEASE_FILES } from '../model/layout.ts';
import type { Ages } from '../plan/plan.ts';
import { narrow, type Packed } from './container.ts';
import { packHex } from './hex.ts';

/**
 * Reads the lines of records.jsonl, which are the bodies by ordinal, and returns the arrays. `spill` is the
 * folder for DuckDB's temporary files. Throws when bodies.parquet has another number of records.
 */
export async function packBodies(release: string, spill: string): Promise<Record<string, Packed>> {
  const duck = await Duck.open(spill);
  const versions: string[] = [];
  try {
    const source = `read_parquet(${quotedText(join(release, RELEASE_FILES.bodies))})`;
    for await (const { columns } of duck.chunks(`select ord, version from ${source}`)) {
      const [ords, texts] = columns as [number[], string[]];
      if (ords.some((ord, i) => ord !== versions.length + i))
        throw new Error(`${RELEASE_FILES.bodies} is not sorted by ordinal; build the release again`);
      versions.push(...texts);
    }
  } finally {
    duck.close();
  }
  return pack(join(release, RELEASE_FILES.jsonl), versions);
}

function pack(jsonl: string, versions: readonly string[]): Record<string, Packed> {
  const records = versions.length;
  // Stored as u32: `wraps` counts each multiple of 4 GB.
  const start = new Float64Array(records + 1);
  const cut1 = new Uint32Array(records);
  const cut2 = new Uint32Array(records);
  const crc = new Uint32Array(records);
  const ages = new Uint32Array(records);
  const patterns = new Patterns();
  let ordinal = 0;
  for (const piece of wholeLines(jsonl)) {
    for (let from = 0; from < piece.length; ordinal += 1) {
      const end = piece.indexOf(LINE_FEED, from);
      const body = piece.subarray(from, end);
      from = end + 1;
      start[ordinal + 1] = start[ordinal]! + body.length + 1;
      cut1[ordinal] = body.indexOf('"updated_at":');
      cut2[ordinal] = body.lastIndexOf('"quality_score":');
      crc[ordinal] = crc32(body);
      ages[ordinal] = patterns.of(body);
    }
  }
  if (ordinal !== records) throw new Error(`${RELEASE_FILES.jsonl} has ${ordinal} records (expected ${records})`);
  const low = Uint32Array.from(start, (byte) => byte % FOUR_GB);
  return {
    'body.start': low,
    'body.wraps': Uint32Array.from(low.keys().filter((i) => i > 0 && low[i]! < low[i - 1]!)),
    'body.cut1': narrow(cut1),
    'body.cut2': narrow(cut2),
    'body.crc': crc,
    'body.ages': narrow(ages),
    'body.patterns': new Uint8Array(Buffer.from(JSON.stringify(patterns.list))),
    ...packHex('version', versions),
  };
}

/** A file in chunks of whole lines, each with its line feed. A chunk is valid until the next one. */
function* wholeLines(path: string): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    let buffer = Buffer.allocUnsafe(PIECE);
    // Bytes of an unfinished line, moved to the start of the buffer.
    let held = 0;
    for (;;) {
      const read = readSync(file, buffer, held, buffer.length - held, null);
      if (read === 0) break;
      const full = held + read;
      const end = buffer.lastIndexOf(LINE_FEED, full - 1) + 1;
      if (end > 0) yield buffer.subarray(0, end);
      buffer.copyWithin(0, end, full);
      held = full - end;
      if (held === buffer.length) buffer = Buffer.concat([buffer], 2 * buffer.length);
    }
    if (held > 0) throw new Error(`${path} ends without a line feed`);
  } finally {
    closeSync(file);
  }
}

const PIECE = 1 << 20;
const LINE_FEED = 10;
const FOUR_GB = 0x1_0000_0000;
const PROVENANCE = ',"provenance":{';
const NAME = '":{"source_url":"';
const TIME = '"observed_at":"';

/** Numbers the distinct patterns of (attribute, observed_at) in order of appearance. */
class Patterns {
  readonly list: Ages[] = [];
  readonly #known = new Map<string, number>();

  of(body: Buffer): number {
    // Parsing every body would take most of the build time. We wrote the text: keys are in this order, and
    // quotes in values are escaped, so no value contains these markers. Names of attributes are ASCII.
    const text = body.toString('latin1', body.indexOf(PROVENANCE));
    let key = '';
    for (let at = text.indexOf(NAME); at >= 0; at = text.indexOf(NAME, at)) {
      const name = text.slice(text.lastIndexOf('"', at - 1) + 1, at);
      const time = text.indexOf(TIME, at + NAME.length) + TIME.length;
      at = text.indexOf('"', time);
      key += `${name}\n${text.slice(time, at)}\n`;
    }
    let id = this.#known.get(key);
    if (id === undefined) {
      const cells = key.split('\n').slice(0, -1);
      id = this.list.length;
      this.list.push({
        names: cells.filter((_, i) => i % 2 === 0),
        times: cells.filter((_, i) => i % 2 === 1).map((time) => Date.parse(time)),
      });
      this.#known.set(key, id);
    }
    return id;
  }
}
