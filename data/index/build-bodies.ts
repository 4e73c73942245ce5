// Packs the bodies of a release: the file of texts, and what finds and cuts each of them (bodies.ts draws the layout).
import { closeSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { RELEASE_FILES } from '../layout.ts';
import type { Ages } from '../plan.ts';
import { Duck, quoted } from '../write/duck.ts';
import { narrow, type Packed } from './container.ts';
import { packHex } from './hex.ts';

/** Reads bodies.parquet of a release, writes its texts to `file` and gives the arrays. The file lies in order of rank. */
export async function packBodies(release: string, file: string): Promise<Record<string, Packed>> {
  const duck = await Duck.open(dirname(file));
  try {
    const source = `read_parquet(${quoted(join(release, RELEASE_FILES.bodies))})`;
    const records = await duck.count(`select count(*) from ${source}`);
    // As bytes: most of a body is never looked at as text.
    return await pack(duck, `select ord, version, encode(body) from ${source}`, records, file);
  } finally {
    duck.close();
  }
}

async function pack(duck: Duck, query: string, records: number, path: string): Promise<Record<string, Packed>> {
  // Stored below as whole numbers of 32 bits: whatever is above goes by the places where it wraps.
  const start = new Float64Array(records + 1);
  const cut1 = new Uint32Array(records);
  const cut2 = new Uint32Array(records);
  const crc = new Uint32Array(records);
  const ages = new Uint32Array(records);
  const versions: string[] = [];
  const patterns = new Patterns();
  const file = openSync(path, 'w');
  try {
    for await (const { columns } of duck.chunks(query)) {
      const [ords, version, texts] = columns as [number[], string[], { bytes: Uint8Array }[]];
      const bodies = texts.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      for (const [i, body] of bodies.entries()) {
        const ordinal = versions.push(version[i]!) - 1;
        if (ords[i] !== ordinal) throw new Error(`${RELEASE_FILES.bodies} is not in order of rank`);
        start[ordinal + 1] = start[ordinal]! + body.length;
        cut1[ordinal] = body.indexOf('"updated_at":');
        cut2[ordinal] = body.lastIndexOf('"quality_score":');
        crc[ordinal] = crc32(body);
        ages[ordinal] = patterns.of(body);
      }
      const piece = Buffer.concat(bodies);
      for (let done = 0; done < piece.length; ) done += writeSync(file, piece, done);
    }
  } finally {
    closeSync(file);
  }
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

const FOUR_GB = 0x1_0000_0000;
const PROVENANCE = ',"provenance":{';
const NAME = '":{"source_url":"';
const TIME = '"observed_at":"';

/** Numbers the distinct patterns of (attribute, observed_at), in the order they are met. */
class Patterns {
  readonly list: Ages[] = [];
  readonly #known = new Map<string, number>();

  of(body: Buffer): number {
    // Parsing every body would take most of the build. The text is our own: keys in this order; within a text quotes are escaped, so that
    // none of these marks can stand there. Names of attributes are ASCII.
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
