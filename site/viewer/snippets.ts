// The API call of the explorer as a shell command and in two languages. The key is a variable, never printed.

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Quotes a text for a shell. */
const shell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const json = (text: string) => JSON.stringify(text);

/** A program that makes the call; with a key it reads it from `REGISTER_KEY`. */
export function snippet(language: Language, url: string, parameters: URLSearchParams, keyed: boolean): string {
  const pairs = [...parameters];
  if (language === 'curl') {
    const header = keyed ? ' -H "Authorization: Bearer $REGISTER_KEY"' : '';
    const given = pairs.map(([name, value]) => ` \\\n  --data-urlencode ${shell(`${name}=${value}`)}`);
    return `curl --get${header} ${shell(url)}${given.join('')}`;
  }
  const list = (open: string, close: string) =>
    pairs.map(([name, value]) => `${open}${json(name)}: ${json(value)}${close}`).join('\n');
  if (language === 'TypeScript') {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program, not ours to fill in
    const headers = keyed ? ', { headers: { Authorization: `Bearer ${process.env.REGISTER_KEY}` } }' : '';
    return [
      'const parameters = new URLSearchParams({',
      list('  ', ','),
      '});',
      `const answer = await fetch(\`${url}?\${parameters}\`${headers});`,
      'const body = await answer.json();',
      'if (!answer.ok) throw new Error(body.message);',
      'console.log(body.items, body.next_cursor);',
    ].join('\n');
  }
  return [
    ...(keyed ? ['import os'] : []),
    'import requests',
    '',
    'answer = requests.get(',
    `    ${json(url)},`,
    '    params={',
    list('        ', ','),
    '    },',
    ...(keyed ? ['    headers={"Authorization": f"Bearer {os.environ[\'REGISTER_KEY\']}"},'] : []),
    ')',
    'answer.raise_for_status()',
    'print(answer.json()["items"])',
  ].join('\n');
}
