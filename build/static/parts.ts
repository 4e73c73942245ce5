// A long text as one complete file and, past a size, also as parts with an index (docs/static-hosting.md).
import type { Output } from './output.ts';

/** Longer texts are also written in parts. Bytes. */
const LONG = 4 * 2 ** 20;
/** Largest part in bytes, unless a single piece of the text is longer. */
const PART = 2 ** 20;

/** An open text: `write` its pieces in order, then `end`. */
export interface TextParts {
  write: (piece: string) => void;
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
  let waiting: { name: string; content: string }[] = [];
  let part: string[] = [];
  let bytes = 0;
  let total = 0;
  const close = () => {
    const name = `${String(parts.length + 1).padStart(4, '0')}.txt`;
    const content = part.join('');
    parts.push({ name, bytes, first: /^## (.*)$/m.exec(content)?.[1] ?? '' });
    waiting.push({ name, content });
    part = [];
    bytes = 0;
    if (total <= LONG) return;
    for (const each of waiting) output.write(`${folder}/${each.name}`, each.content, key);
    waiting = [];
  };
  return {
    write(piece) {
      whole.write(piece);
      const more = Buffer.byteLength(piece);
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
