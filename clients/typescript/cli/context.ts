// What a command works with: the client, the terminal, the config file.
import { LimitError, PaymentError, type Receipt, Register } from '../index.ts';
import type { Arguments } from './arguments.ts';
import { numberOf } from './arguments.ts';
import { type Config, configPath, readConfig, UsageError } from './config.ts';
import { printTable } from './table.ts';

/** The parts of a process that commands use, so that tests replace them. */
export interface Terminal {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadableStream;
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
}

/** The address of the service, its credential and the config file. */
export interface Service {
  url: string;
  key: string | undefined;
  config: Config;
  path: string;
}

/** The service of the arguments, the environment or the config file. Throws a `UsageError` without an address. */
function serviceOf({ values }: Arguments, { env }: Terminal): Service {
  const path = configPath(env);
  const config = readConfig(path);
  const address = (values['url'] as string | undefined) ?? env['REGISTER_URL'] ?? config.url;
  if (address === undefined)
    throw new UsageError(`no service: add --url <address>, set REGISTER_URL, or write {"url": "<address>"} to ${path}`);
  if (!URL.canParse(address) || !/^https?:/.test(address))
    throw new UsageError(`the address of the service must begin with http:// or https:// (got '${address}')`);
  const url = address.replace(/\/+$/, '');
  const key = (values['key'] as string | undefined) ?? env['REGISTER_KEY'] ?? config.services?.[url]?.key;
  return { url, key: key === '' ? undefined : key, config, path };
}

/** A command's context. */
export class Context {
  readonly arguments: Arguments;
  readonly terminal: Terminal;
  readonly service: Service;
  readonly register: Register;
  /** Of the last call. */
  receipt: Receipt | undefined;
  readonly #json: boolean;

  constructor(parsed: Arguments, terminal: Terminal) {
    this.arguments = parsed;
    this.terminal = terminal;
    this.service = serviceOf(parsed, terminal);
    this.#json = parsed.values['json'] === true || terminal.stdout.isTTY !== true;
    const most = this.text('max-price');
    const { url, key, config } = this.service;
    const maxPrice = most === undefined ? config.max_price : numberOf(most, '--max-price');
    this.register = new Register({
      url,
      ...(key === undefined ? {} : { key }),
      ...(maxPrice === undefined ? {} : { maxPrice }),
      onCall: (receipt) => {
        this.receipt = receipt;
      },
    });
  }

  /** An option with a text; undefined if it is absent. */
  text(name: string): string | undefined {
    const value = this.arguments.values[name];
    return typeof value === 'string' ? value : undefined;
  }
  flag(name: string): boolean {
    return this.arguments.values[name] === true;
  }
  /** Options that are sent as parameters, without the absent ones. */
  parameters(...names: string[]): Record<string, string> {
    const pairs = names.flatMap((name) => {
      const value = this.text(name);
      return value === undefined ? [] : [[name.replaceAll('-', '_'), value] as const];
    });
    return Object.fromEntries(pairs);
  }
  /** Whether tables are printed: a person reads the output. */
  get tables(): boolean {
    return !this.#json;
  }

  write(text: string): void {
    this.terminal.stdout.write(text);
  }
  /** A line for the person at the terminal, never part of the output. */
  note(text: string): void {
    this.terminal.stderr.write(`${text}\n`);
  }

  /** Prints an answer: as a table of `rows` for a person, else as JSON. */
  print(answer: object, rows: () => readonly Readonly<Record<string, unknown>>[]): void {
    if (!this.tables) {
      this.write(`${JSON.stringify(answer, null, 2)}\n`);
      return;
    }
    // A terminal without a size states 0.
    const columns = this.terminal.stdout.columns || 100;
    const table = printTable(rows(), { columns, bold: this.terminal.env['NO_COLOR'] === undefined });
    this.write(table === '' ? 'Nothing found.\n' : table);
    const { attribution } = answer as { attribution?: string };
    if (attribution !== undefined) this.note(`Source: ${attribution}`);
  }

  /** What the calls cost, for a person. */
  printCost(): void {
    const { charge_eur, balance_eur } = this.register.cost;
    if (charge_eur > 0 && this.terminal.stderr.isTTY)
      this.note(`Charged ${charge_eur} EUR${balance_eur === undefined ? '' : `, ${balance_eur} EUR left`}.`);
  }
}

/** An error in words, with what to do. */
export function adviceFor(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof PaymentError && error.code === 'payment_required')
    return `${error.body.message} Create a key: register key create <email>`;
  if (error instanceof LimitError && error.bound === 'max_price') return `${error.body.message} Raise --max-price.`;
  return error.message;
}
