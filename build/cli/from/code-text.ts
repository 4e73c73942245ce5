// TypeScript text of plain values, in the form of the repository's formatter.

/** Text that is already code: a function, a call. */
export class Code {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const WIDTH = 120;

/** A text in single quotes. */
export function quotedCode(text: string): string {
  const json = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  // Line separators are escaped too: some tools treat them as line ends.
  const plain = json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  if (text.includes("'") && !text.includes('"')) return `"${plain}"`;
  return `'${plain.replaceAll("'", "\\'")}'`;
}

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quotedCode(name));

function inline(value: unknown): string {
  if (value instanceof Code) return value.text;
  if (typeof value === 'string') return quotedCode(value);
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = entries(value).map(([name, each]) => `${key(name)}: ${inline(each)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const entries = (value: object) => Object.entries(value).filter(([, each]) => each !== undefined);

/**
 * A value as code. `depth` is the number of levels of indentation, `before` the characters in front of it on
 * its line. Objects down to `open` levels have one member on each line.
 */
export function codeText(value: unknown, depth = 0, before = 0, open = 0): string {
  const short = inline(value);
  const object = typeof value === 'object' && value !== null && !(value instanceof Code);
  if (!object || (short.length + before < WIDTH && (open === 0 || Array.isArray(value)) && !short.includes('\n')))
    return short;
  const indent = '  '.repeat(depth + 1);
  const end = '  '.repeat(depth);
  if (Array.isArray(value)) {
    const lines = value.map((each) => `${indent}${codeText(each, depth + 1, indent.length)},\n`);
    return `[\n${lines.join('')}${end}]`;
  }
  const lines = entries(value).map(([name, each]) => {
    const start = `${indent}${key(name)}: `;
    return `${start}${codeText(each, depth + 1, start.length, Math.max(0, open - 1))},\n`;
  });
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${end}}`;
}
