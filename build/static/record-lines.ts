// The lines of records.jsonl, which are the stored bodies by ordinal: where each begins, and a range of them.
// Reading bodies.parquet in ranges decompressed each of its row groups ten times.
import { closeSync, openSync, readSync } from 'node:fs';

/** Bytes that are read together. */
const PIECE = 1 << 20;
const LINE_FEED = 10;

/** First byte of each line, and the length of the file. Throws when it has another number of lines. */
export function lineStarts(path: string, lines: number): Float64Array<ArrayBuffer> {
  const starts = new Float64Array(lines + 1);
  const buffer = Buffer.allocUnsafeSlow(PIECE);
  const file = openSync(path, 'r');
  let line = 0;
  try {
    for (let at = 0, read = -1; read !== 0; at += read) {
      read = readSync(file, buffer, 0, buffer.length, null);
      const piece = buffer.subarray(0, read);
      for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, end + 1)) {
        line += 1;
        if (line <= lines) starts[line] = at + end + 1;
      }
    }
  } finally {
    closeSync(file);
  }
  if (line !== lines) throw new Error(`${path} has ${line} lines (expected ${lines})`);
  return starts;
}

/** Lines [from, to) of an open file, without line feeds; `starts` are the first bytes of these lines and the next. */
export function* recordLines(file: number, starts: Float64Array, from: number, to: number): Generator<string> {
  const [begin, end] = [starts[from]!, starts[to]!];
  const buffer = Buffer.allocUnsafeSlow(end - begin);
  if (readSync(file, buffer, 0, buffer.length, begin) !== buffer.length)
    throw new Error(`a file of records became shorter than ${end} bytes`);
  for (let i = from; i < to; i += 1) yield buffer.toString('utf8', starts[i]! - begin, starts[i + 1]! - begin - 1);
}
