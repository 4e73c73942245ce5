// A long text as one complete file and, past a size, also as parts with an index (docs/static-hosting.md).
import { joinedBytes, type Output } from './output.ts';

/** Longer texts are also written in parts. Bytes. */
const LONG = 4 * 2 ** 20;
/** Largest part in bytes, unless a single piece of the text is longer. */
const PART = 2 ** 20;

/** An open text: `write` its pieces in order, then `end`. */
export interface TextParts {
  write: (piece: string | Uint8Array) => void;
  end: () => void;
}

/**
 * Opens the text of `file` (`…/llms-full.txt`). Past the size it is also written to `…/llms-full/0001.txt`
 * and so on, cut between the pieces, with `…/llms-full/index.txt`. At most five parts are in memory.
 */
export function writeParts(file: string, output: Output, key: string): TextParts {
  const whole = output.stream(file, key);
  const folder = file.replace(/\.txt$/, '');
  const parts: { name: string; bytes: number; first: string }[] = [];
  let waiting: { name: string; content: Buffer }[] = [];
  let part: (string | Uint8Array)[] = [];
  let bytes = 0;
  let total = 0;
  const close = () => {
    const name = `${String(parts.length + 1).padStart(4, '0')}.txt`;
    const content = joinedBytes(part);
    parts.push({ name, bytes, first: firstHeading(content) });
    waiting.push({ name, content });
    part = [];
    bytes = 0;
    if (total <= LONG) return;
    for (const file of waiting) output.write(`${folder}/${file.name}`, file.content, key);
    waiting = [];
  };
  return {
    write(piece) {
      whole.write(piece);
      const more = typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
      if (part.length > 0 && bytes + more > PART) close();
      part.push(piece);
      bytes += more;
      total += more;
    },
    end() {
      whole.end();
      if (total <= LONG) return;
      close();
      const lines = parts.map(({ name, bytes, first }) => `${name}\t${bytes}\t${first}`);
      output.write(`${folder}/index.txt`, ['part\tbytes\tbegins with', ...lines, ''].join('\n'), key);
    },
  };
}

/** The text of the first heading of a part. */
function firstHeading(part: Buffer): string {
  const start = part.indexOf('## ') === 0 ? 0 : part.indexOf('\n## ') + 1;
  if (start === 0 && !part.subarray(0, 3).equals(Buffer.from('## '))) return '';
  const end = part.indexOf(10, start);
  return part.subarray(start + 3, end < 0 ? part.length : end).toString();
}
