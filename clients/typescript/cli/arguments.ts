// Arguments of the command line: the options that commands share, and their parser.
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './config.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** Options of all commands. */
export const SHARED: Options = {
  url: { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  'max-price': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
};

/** An option in one line of help. */
export const OPTION_TEXTS: Readonly<Record<string, string>> = {
  url: 'address of the service (REGISTER_URL, or `url` of the config file)',
  key: 'API key (better: REGISTER_KEY, or the config file)',
  json: 'JSON, as in a pipe',
  'max-price': 'the most that a call may cost, in EUR',
  help: 'this text',
  'as-of': 'the state at an earlier moment: 2026-01-31',
  fields: 'attributes, separated by commas',
  sort: 'an attribute, -attribute, relevance, distance',
  near: 'lat,lng,km or <record>,<km>',
  limit: 'records',
  all: 'every page; a record a line in a pipe',
  filter: 'a CQL2 expression',
  format: 'csv, md, ndjson, geojson, arrow; of an export csv, jsonl, parquet',
  attribute: 'only this attribute',
  by: 'attributes of the groups, separated by commas',
  output: 'file, or - for the standard output',
  parameter: 'value of a ?, or name=value; repeat it for several',
  replace: 'replace the key in the config file',
  'print-key': 'print the key instead of storing it',
  tools: 'only these tools, separated by commas, or core',
  datasets: 'only these datasets, separated by commas',
  'sign-in': 'sign in with OAuth in the browser if the config file has no key',
};

/** Parsed arguments: options by name, and the others in their order. */
export interface Arguments {
  values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  positionals: readonly string[];
}

/** Begins a positional argument that the parser would take for an option; no argument of a process contains it. */
const MARK = '\0';

/**
 * Arguments whose values may begin with `-`: an option with a value takes whatever follows it but another option of the
 * command, and negative numbers and texts with a space are no options.
 */
function unambiguous(args: readonly string[], options: Options): string[] {
  const optionOf = (text: string) => (text.startsWith('--') ? options[text.slice(2)] : undefined);
  const result: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const argument = args[at]!;
    if (argument === '--') return [...result, ...args.slice(at)];
    const next = args[at + 1];
    if (next?.startsWith('-') && optionOf(argument)?.type === 'string') {
      if (optionOf(next.replace(/=.*/s, '')) !== undefined) throw new UsageError(`${argument} needs a value`);
      result.push(`${argument}=${next}`);
      at += 1;
    } else result.push(/^-(?:[\d.]|[^=]*\s)/.test(argument) ? `${MARK}${argument}` : argument);
  }
  return result;
}

/** Parses the arguments of a command. Throws a `UsageError` that names the wrong one. */
export function parseArguments(args: readonly string[], names: readonly string[]): Arguments {
  const own: Options = Object.fromEntries(
    names.map((name) => [
      name,
      {
        type: ['all', 'replace', 'print-key', 'sign-in'].includes(name) ? 'boolean' : 'string',
        ...(name === 'parameter' ? { multiple: true } : {}),
      },
    ]),
  );
  const options = { ...SHARED, ...own };
  try {
    const { values, positionals } = parseArgs({
      args: unambiguous(args, options),
      options,
      allowPositionals: true,
      strict: true,
    });
    return { values: values as Arguments['values'], positionals: positionals.map((text) => text.replace(MARK, '')) };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** A number of at least `least`. */
export function numberOf(text: string, name: string, least = 0): number {
  const number = Number(text);
  if (text.trim() === '' || Number.isNaN(number) || number < least)
    throw new UsageError(`${name} must be a number of at least ${least} (got '${text}')`);
  return number;
}

/** Splits `name=value` arguments, which are filters, from words. Several values of a name are a list. */
export function splitFilters(texts: readonly string[]): {
  words: string[];
  filters: Record<string, string | string[]>;
} {
  const words: string[] = [];
  const filters: Record<string, string | string[]> = {};
  for (const text of texts) {
    const [, name, value] = /^([a-z_][\w.-]*)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined) words.push(text);
    else filters[name] = name in filters ? [filters[name]!, value].flat() : value;
  }
  return { words, filters };
}
