// A long text as one complete file and, past a size, as parts beside it with an index (docs/static-hosting.md).
import type { Output } from './prerender-output.ts';

/** Beyond this many bytes a text also comes in parts. */
const LONG = 4 * 2 ** 20;
/** Most bytes of a part, unless a single piece of the text is longer. */
const PART = 2 ** 20;

/**
 * Writes the text to `file` (`…/llms-full.txt`), and when it is long also to `…/llms-full/0001.txt` and so on, cut between the pieces it
 * comes in, with `…/llms-full/index.txt`. Nobody holds all of it: at most one part, and all parts until the text has proved long.
 */
export async function writeParts(
  file: string,
  text: AsyncIterable<string>,
  output: Output,
  key: string,
): Promise<void> {
  const whole = output.stream(file, key);
  const folder = file.replace(/\.txt$/, '');
  const parts: { name: string; bytes: number; first: string }[] = [];
  let waiting: string[] = [];
  let part = '';
  let total = 0;
  const close = () => {
    const name = `${String(parts.length + 1).padStart(4, '0')}.txt`;
    parts.push({ name, bytes: Buffer.byteLength(part), first: /^## (.*)$/m.exec(part)?.[1] ?? '' });
    waiting.push(part);
    part = '';
    if (total <= LONG) return;
    for (const [i, content] of waiting.entries()) {
      const at = parts.length - waiting.length + i;
      output.write(`${folder}/${parts[at]?.name}`, content, key);
    }
    waiting = [];
  };
  for await (const piece of text) {
    whole.write(piece);
    const bytes = Buffer.byteLength(piece);
    if (part !== '' && Buffer.byteLength(part) + bytes > PART) close();
    part += piece;
    total += bytes;
  }
  whole.end();
  if (total <= LONG) return;
  close();
  const lines = parts.map(({ name, bytes, first }) => `${name}\t${bytes}\t${first}`);
  output.write(`${folder}/index.txt`, ['part\tbytes\tbegins with', ...lines, ''].join('\n'), key);
}
