// gzip copies of long texts in pieces, so that after an edit only the pieces that contain it are compressed.
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { deflatePiece, GZIP_HEADER, type GzipPiece, gzipOf, pieceOf } from '../../api/http/gzip.ts';

/** Least and most bytes of a piece. With twice as many on average, copies are 1 % smaller. */
const LEAST = 1 << 17;
const MOST = 1 << 21;
/** A piece ends before about one line in this number. */
const LINES = 128;
/** Pieces compressed in parallel. */
const AT_ONCE = 8;

const LEVEL = 6;

/**
 * The text in pieces of whole lines. Ends depend on the lines around them, so that pieces before and after an
 * edit stay the same.
 */
export function piecesOf(text: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let from = 0;
  while (from < text.length) {
    let end = text.length;
    for (let at = from + LEAST; at < text.length; ) {
      const line = text.indexOf(10, at) + 1;
      if (line === 0) break;
      if (line - from >= MOST || crc32(text.subarray(line, line + 64)) % LINES === 0) {
        end = line;
        break;
      }
      at = line;
    }
    pieces.push(text.subarray(from, end));
    from = end;
  }
  return pieces;
}

/** One line for each piece of a copy: SHA-256 of the text, and compressed bytes. The first one is of the copy. */
const noteOf = (copy: string) => `${copy}.pieces`;

/** Compressed pieces of the old copy by the hash of their text; empty when it is missing or not the noted one. */
function oldPieces(copy: string): Map<string, Buffer> {
  const pieces = new Map<string, Buffer>();
  if (!existsSync(copy) || !existsSync(noteOf(copy))) return pieces;
  const content = readFileSync(copy);
  const [first, ...lines] = readFileSync(noteOf(copy), 'utf8').trimEnd().split('\n');
  if (first !== hash('sha256', content, 'hex')) return pieces;
  let at = GZIP_HEADER.length;
  for (const line of lines) {
    const [text = '', bytes] = line.split('\t');
    pieces.set(text, content.subarray(at, at + Number(bytes)));
    at += Number(bytes);
  }
  return pieces;
}

/** Writes the gzip copy of a text, and returns it; pieces that the old copy has are taken from it. */
export async function gzipInPieces(from: string, copy: string): Promise<Buffer> {
  const text = await readFile(from);
  const before = oldPieces(copy);
  const pieces = piecesOf(text);
  const names = pieces.map((piece) => hash('sha256', piece, 'hex'));
  const made: GzipPiece[] = [];
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < pieces.length; i = next++) {
      const old = before.get(names[i]!);
      made[i] = old ? pieceOf(pieces[i]!, old) : await deflatePiece(pieces[i]!, LEVEL);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const content = Buffer.concat(gzipOf(made));
  await writeFile(`${copy}.new`, content);
  await rename(`${copy}.new`, copy);
  const lines = names.map((name, i) => `${name}\t${made[i]!.blocks.length}`);
  await writeFile(noteOf(copy), [hash('sha256', content, 'hex'), ...lines, ''].join('\n'));
  return content;
}
