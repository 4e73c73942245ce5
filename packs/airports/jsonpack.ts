// Reads jsonpack: `strings^integers^floats^structure`, where the structure references dictionary entries in
// base 36.

type Json = string | number | boolean | null | undefined | Json[] | { [name: string]: Json };

/** Negative indexes are values without a dictionary entry. */
const FIXED = new Map<number, Json>([
  [-1, true],
  [-2, false],
  [-3, null],
  [-4, ''],
  [-5, undefined],
]);

const ESCAPES: Record<string, string> = { '+': ' ', '%2B': '+', '%7C': '|', '%5E': '^', '%25': '%' };

function plain(text: string): string {
  return text.replace(/\+|%2B|%7C|%5E|%25/g, (code) => ESCAPES[code] ?? code);
}

/** `@1|2]` is a list, `$name|value]` an object; both nest. */
const TOKEN = /[@$\]]|-?[0-9A-Z]+/g;

/** The value of a jsonpack text. Throws SyntaxError when the text is incomplete. */
export function unpack(packed: string): Json {
  const [strings, integers, floats, structure, ...rest] = packed.split('^');
  if (structure === undefined || rest.length > 0) throw new SyntaxError('jsonpack: expected four parts divided by ^');
  const dictionary: Json[] = [
    ...entries(strings).map(plain),
    ...entries(integers).map((digits) => Number.parseInt(digits, 36)),
    ...entries(floats).map(Number),
  ];
  const tokens = structure.match(TOKEN) ?? [];
  let at = 0;

  const next = (): string => {
    const token = tokens[at++];
    if (token === undefined) throw new SyntaxError('jsonpack: unexpected end of the structure');
    return token;
  };
  const value = (token: string): Json => {
    if (token === '@') return list();
    if (token === '$') return object();
    const index = Number.parseInt(token, 36);
    if (FIXED.has(index)) return FIXED.get(index);
    if (index in dictionary) return dictionary[index];
    throw new SyntaxError(`jsonpack: ${token} is not an entry of the dictionary`);
  };
  const list = (): Json[] => {
    const items: Json[] = [];
    for (let token = next(); token !== ']'; token = next()) items.push(value(token));
    return items;
  };
  const object = (): Json => {
    const members: [string, Json][] = [];
    for (let token = next(); token !== ']'; token = next()) members.push([String(value(token)), value(next())]);
    return Object.fromEntries(members);
  };
  return value(next());
}

/**
 * An empty part has no entry. It cannot be one empty string, which the structure would contain by its own
 * index.
 */
function entries(part: string | undefined): string[] {
  return part === undefined || part === '' ? [] : part.split('|');
}
