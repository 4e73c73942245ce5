// An API call as a shell command and in two languages. The key is a variable, never printed.

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const;
export type Language = (typeof LANGUAGES)[number];

/** What a request has besides its address and query. */
export interface SnippetOptions {
  /** GET by default. */
  method?: string;
  /** JSON body. */
  body?: unknown;
  /** The answer is a text, not JSON. */
  text?: boolean;
  /** The answer is a list of records with a cursor, the default; else it is printed whole. */
  list?: boolean;
}

interface Call extends Required<Pick<SnippetOptions, 'method' | 'text' | 'list'>> {
  url: string;
  pairs: [string, string][];
  keyed: boolean;
  body?: unknown;
}

/** Quotes a text for a shell. */
const shell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const json = (text: string) => JSON.stringify(text);

/** A program that makes the call; with a key it reads it from `REGISTER_KEY`. */
export function snippet(
  language: Language,
  url: string,
  parameters: URLSearchParams,
  keyed: boolean,
  { method = 'GET', body, text = false, list = true }: SnippetOptions = {},
): string {
  const call = { url, pairs: [...parameters], keyed, method, body, text, list };
  return { curl, TypeScript: typescript, Python: python }[language](call);
}

function curl({ url, pairs, keyed, method, body }: Call): string {
  const words = [
    `curl${method === 'GET' ? (pairs.length > 0 ? ' --get' : '') : ` -X ${method}`}${keyed ? ' -H "Authorization: Bearer $REGISTER_KEY"' : ''} ${shell(url)}`,
    ...pairs.map(([name, value]) => `--data-urlencode ${shell(`${name}=${value}`)}`),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${shell(JSON.stringify(body))}`]),
  ];
  return words.join(' \\\n  ');
}

function typescript({ url, pairs, keyed, method, body, text, list }: Call): string {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program, not ours to fill in
  const authorization = keyed ? ['Authorization: `Bearer ${process.env.REGISTER_KEY}`'] : [];
  const headers = [...authorization, ...(body === undefined ? [] : ["'Content-Type': 'application/json'"])];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} }`] : []),
    ...(body === undefined ? [] : [`body: JSON.stringify(${JSON.stringify(body)})`]),
  ];
  const init =
    options.length === 0
      ? ''
      : options.length === 1
        ? `, { ${options[0]} }`
        : `, {\n${options.map((option) => `  ${option},`).join('\n')}\n}`;
  const query = [
    'const parameters = new URLSearchParams({',
    ...pairs.map(([name, value]) => `  ${json(name)}: ${json(value)},`),
    '});',
  ];
  const failed = text ? 'await answer.text()' : 'body.message';
  const shown = text ? 'await answer.text()' : list ? 'body.items, body.next_cursor' : 'body';
  return [
    ...(pairs.length > 0 ? query : []),
    pairs.length > 0
      ? `const answer = await fetch(\`${url}?\${parameters}\`${init});`
      : `const answer = await fetch('${url}'${init});`,
    ...(text ? [] : ['const body = await answer.json();']),
    `if (!answer.ok) throw new Error(${failed});`,
    `console.log(${shown});`,
  ].join('\n');
}

function python({ url, pairs, keyed, method, body, text, list }: Call): string {
  const query = ['    params={', ...pairs.map(([name, value]) => `        ${json(name)}: ${json(value)},`), '    },'];
  return [
    ...(keyed ? ['import os'] : []),
    'import requests',
    '',
    `answer = requests.${method.toLowerCase()}(`,
    `    ${json(url)},`,
    ...(pairs.length > 0 ? query : []),
    ...(body === undefined ? [] : [`    json=${pythonLiteral(body)},`]),
    ...(keyed ? ['    headers={"Authorization": f"Bearer {os.environ[\'REGISTER_KEY\']}"},'] : []),
    ')',
    'answer.raise_for_status()',
    text ? 'print(answer.text)' : `print(answer.json()${list ? '["items"]' : ''})`,
  ].join('\n');
}

/** A JSON value as a Python expression. */
function pythonLiteral(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${json(name)}: ${pythonLiteral(member)}`)
    .join(', ')}}`;
}
