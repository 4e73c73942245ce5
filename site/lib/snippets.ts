// An API call as a shell command, as a program with the clients, and as a call of an MCP tool. The key is a variable,
// never printed.
import type { LANGUAGES } from '../../api/pages/viewer-model.ts';

export type Language = (typeof LANGUAGES)[number];

/** A call of an operation, as HTTP and as the clients and MCP have it. */
export interface OperationCall {
  base_url: string;
  operation: string;
  method: string;
  /** Path with its values, without the query. */
  path: string;
  query: URLSearchParams;
  /** JSON body. */
  body?: Record<string, unknown>;
  /** Values of path, query and body by name. */
  input: Record<string, unknown>;
  /** Filters of the dataset, which a tool takes as one object. */
  filters: Record<string, unknown>;
  /** Whether the key is sent. */
  keyed: boolean;
  /** A format other than JSON. */
  format?: string;
  /** Whether MCP has it as a tool. */
  tool: boolean;
}

/** Longest line of arguments; longer ones have a line each. */
const LINE = 60;

/** Quotes a text for a shell. */
const shell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const json = (value: unknown) => JSON.stringify(value);

/** A program that makes the call and prints the answer; it reads the key from `REGISTER_KEY`. */
export function snippet(language: Language, call: OperationCall): string {
  return { curl, TypeScript: typescript, Python: python, MCP: toolCall }[language](call);
}

function curl({ base_url, method, path, query, body, keyed }: OperationCall): string {
  const words = [
    `curl${method === 'GET' ? (query.size > 0 ? ' --get' : '') : ` -X ${method}`}${keyed ? ' -H "Authorization: Bearer $REGISTER_KEY"' : ''} ${shell(base_url + path)}`,
    ...[...query].map(([name, value]) => `--data-urlencode ${shell(`${name}=${value}`)}`),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${shell(json(body))}`]),
  ];
  return words.join(' \\\n  ');
}

function typescript({ base_url, operation, input, filters, keyed, format }: OperationCall): string {
  const member = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? name : json(name));
  const values = argumentsText({ ...input, ...filters }, (name, value) => `${member(name)}: ${json(value)}`, '  ');
  return [
    "import { Register } from 'dataset-register-client';",
    '',
    `const register = new Register({ url: '${base_url}'${keyed ? ', key: process.env.REGISTER_KEY' : ''} });`,
    format === undefined
      ? `console.log(await register.call('${operation}', ${values}));`
      : `console.log(await register.text('${operation}', ${values}, '${format}'));`,
  ].join('\n');
}

function python({ base_url, operation, input, filters, keyed, format }: OperationCall): string {
  const values = argumentsText(
    { ...input, ...filters },
    (name, value) => `${json(name)}: ${pythonLiteral(value)}`,
    '    ',
  );
  return [
    ...(keyed ? ['import os'] : []),
    'from dataset_register import Register',
    '',
    `register = Register(${json(base_url)}${keyed ? ', key=os.environ["REGISTER_KEY"]' : ''})`,
    `print(register.call("${operation}", ${values}${format === undefined ? '' : `, format="${format}"`}))`,
  ].join('\n');
}

function toolCall({ operation, input, filters, tool, format }: OperationCall): string {
  if (!tool) return 'This operation is no tool of MCP.';
  const values = { ...input, ...(Object.keys(filters).length > 0 ? { filters } : {}) };
  const answer = format === 'md' ? { format: 'markdown' } : {};
  return JSON.stringify({ name: operation, arguments: { ...values, ...answer } }, null, 2);
}

/** An object of arguments, on one line if it is short. */
function argumentsText(
  values: Record<string, unknown>,
  print: (name: string, value: unknown) => string,
  indent: string,
): string {
  const members = Object.entries(values).map(([name, value]) => print(name, value));
  if (members.length === 0) return '{}';
  const line = members.join(', ');
  return line.length <= LINE ? `{ ${line} }` : `{\n${members.map((text) => `${indent}${text},\n`).join('')}}`;
}

/** A JSON value as a Python expression. */
function pythonLiteral(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  if (typeof value !== 'object') return json(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${json(name)}: ${pythonLiteral(member)}`)
    .join(', ')}}`;
}
