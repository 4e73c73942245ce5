// Runs a page of docs/: writes the files that it shows, runs its commands and compares what they print.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect } from 'vitest';
import { type Application, compose } from '../../api/compose.ts';
import { runPackCommand } from '../../build/cli/pack.ts';
import { Web } from '../../build/crawl/web.ts';
import { type Effects, realEffects } from '../../build/effects/effects.ts';
import { showProgress } from '../../build/effects/progress.ts';
import { datasetNight } from '../../build/night/dataset.ts';
import { runNight } from '../../build/night/run.ts';
import { readConfig } from '../../config.ts';
import { Duck } from '../../data/duckdb/duck.ts';
import { loadPack } from '../../packs/define/load.ts';
import { read } from '../structure/tree.ts';
import { ADMIN } from './app.ts';

/** A code block of a page. */
export interface Block {
  /** The heading above it, without `#`. */
  heading: string;
  language: string;
  /** Code at the end of the line above, when that line ends with a colon: a file, or an address. */
  name: string | null;
  /** Whether the file has the text already. */
  contained: boolean;
  text: string;
  /** Line of the page where it begins. */
  line: number;
}

/** The code blocks of a page, in order. */
export function blocksOf(path: string): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let above = '';
  let open: Block | null = null;
  for (const [index, line] of read(path).split('\n').entries()) {
    if (open !== null) {
      if (line === '```') {
        blocks.push(open);
        open = null;
        above = '';
      } else open.text += `${line}\n`;
    } else if (line.startsWith('```')) {
      const [, name = null, verb] = /`([^`]+)`(?: (answers|contains))?:$/.exec(above) ?? [];
      const contained = verb === 'contains';
      open = { heading, language: line.slice(3), name, contained, text: '', line: index + 1 };
    } else if (/^#+ /.test(line)) heading = line.replace(/^#+ /, '');
    else if (line.trim() !== '') above = line;
  }
  return blocks;
}

/** Host of the fictional APIs and pages of the documents; a local server answers for it. */
const SITE = 'https://shop.example';
/** The day on which the output in the documents was printed. */
const DAY = '2026-11-23';
/** Members that the sources of docs/packs-sources.md have in common; a block without them has the other members. */
const COMMON = ['title', 'url', 'license', 'trust'];
const today = () => new Date().toISOString().slice(0, 10);

/** Replaces what differs between runs: times, the day, ids of releases. */
const steady = (text: string, day: string) =>
  text
    .replaceAll(day, DAY)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '{time}')
    .replace(/\b\d{8}T\d{6}(\.\d+)?Z-[0-9a-f]{12}\b/g, '{version}')
    .replace(new RegExp(`${DAY} \\d\\d:\\d\\d`, 'g'), `${DAY} {minute}`)
    .replace(/\brelease [0-9a-f]{16}\b/g, 'release {id}')
    .replace(/"(freshness|age)": ?[\d.]+/g, '"$1": {hours}')
    .trimEnd();

/** Compares output line by line; a line `…` of the page stands for any lines. */
function expectOutput(shown: string, printed: string, place: string): void {
  const expected = steady(shown, DAY);
  const actual = steady(printed, today());
  const escaped = expected
    .split('\n')
    .map((line) => (line === '…' ? '(?:.*\n)*?' : `${RegExp.escape(line)}\n`))
    .join('');
  if (!new RegExp(`^${escaped}$`).test(`${actual}\n`)) expect(`${place}\n${actual}`).toBe(`${place}\n${expected}`);
}

/** One command of a `console` block, and what the page shows as its output. */
interface Step {
  command: string;
  output: string;
}

function stepsOf(text: string): Step[] {
  const steps: Step[] = [];
  for (const line of text
    .replace(/\\\n\s*/g, '')
    .trimEnd()
    .split('\n')) {
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), output: '' });
    else steps.at(-1)!.output += `${line}\n`;
  }
  return steps;
}

/** Words of a command line; quotes group, and `#` begins a comment. */
const wordsOf = (command: string) =>
  [...command.matchAll(/"([^"]*)"|'([^']*)'|([^\s'"]+)/g)].map((match) => match[1] ?? match[2] ?? match[3]!);

export interface DocsPageOptions {
  /** Environment variables of the commands. */
  environment?: Record<string, string>;
  /** Whether `npm run nightly` renders the static files too, as the command does; otherwise it only releases. */
  renders: boolean;
}

/** A folder in which the blocks of a page are run in order. */
export class DocsPage {
  /** The folder. A command moves it, because Node imports the modules of a path once. */
  folder = mkdtempSync(join(tmpdir(), 'docs-'));
  readonly #parent = this.folder;
  readonly #options: DocsPageOptions;
  readonly #answers = new Map<string, { type: string; body: string }>();
  #server: Server | undefined;
  #site = '';
  #runs = 0;
  /** Path of the first pack.ts. */
  #firstPack: string | undefined;
  /** The service, and the folder whose data it serves. */
  #service: { application: Application; folder: string } | undefined;

  constructor(options: DocsPageOptions) {
    this.#options = options;
    this.#move();
  }

  /** Writes, serves or runs a block. */
  async run(block: Block): Promise<void> {
    const { language, name, text, line } = block;
    if (language === 'console') {
      for (const { command, output } of stepsOf(text)) {
        const printed = await this.command(command);
        expectOutput(output, printed, `line ${line}: ${command}`);
      }
    } else if (language === 'sh' && name === null) {
      for (const [, variable] of text.matchAll(/^export (\w+)=/gm))
        expect(Object.keys(this.#environment()), `line ${line}`).toContain(variable);
    } else if (name?.startsWith(SITE)) this.#answer(name, text, language);
    else if (name !== null && block.contained) this.#expectContained(block);
    else if (name !== null) this.write(name, text);
    else throw new Error(`line ${line}: a ${language} block without a file name`);
  }

  /**
   * Writes a file, with the address of the local server. Of a pack the page may show only `sources`, or only the members
   * of the source `shop` that differ: the rest is that of the first pack.
   */
  write(path: string, text: string): void {
    const target = join(this.folder, path);
    mkdirSync(dirname(target), { recursive: true });
    let whole = text;
    if (path.endsWith('/pack.ts') && !text.startsWith('import ')) {
      const first = join(this.folder, this.#firstPack!);
      for (const file of ['samples.json', 'record.md', 'guide.md'])
        cpSync(join(dirname(first), file), join(dirname(target), file));
      const pack = readFileSync(first, 'utf8');
      const common = COMMON.map((name) => new RegExp(`^ {6}${name}: .*\n`, 'm').exec(pack)![0]).join('');
      const indented = (by: string) => `${by}${text.trimEnd().replaceAll('\n', `\n${by}`)}\n`;
      const sources = text.startsWith('sources: {')
        ? indented('  ')
        : `  sources: {\n    shop: {\n${common}${indented('      ')}    },\n  },\n`;
      whole = pack
        .replace(/^ {2}sources: \{\n[\s\S]*?^ {2}\},\n/m, () => sources)
        .replace(/import \{.*\}/, 'import { csv, definePack, http, json, jsonl, npm, parquet, postgres, sqlite }');
    } else if (path.endsWith('/pack.ts')) this.#firstPack ??= path;
    writeFileSync(target, this.#local(whole));
  }

  /** A text of the page with the address of the local server. */
  #local(text: string): string {
    return this.#site === '' ? text : text.replaceAll(SITE, this.#site);
  }

  #expectContained({ name, text, line }: Block): void {
    const lines = (whole: string) => whole.split('\n').map((each) => each.trim());
    expect(lines(readFileSync(join(this.folder, name!), 'utf8')).join('\n'), `line ${line}`).toContain(
      lines(text.trimEnd()).join('\n'),
    );
  }

  /** Runs a command; returns what it prints, with the paths and addresses of the page. */
  async command(command: string): Promise<string> {
    if (command.startsWith('npm run')) this.#move();
    const printed = await this.#dispatch(command.replace(/\s+# .*$/, ''));
    const host = this.#site.replace('http://', '');
    return [this.#site, host]
      .filter((each) => each !== '')
      .reduce((text, each) => text.replaceAll(each, each === host ? SITE.replace('https://', '') : SITE), printed)
      .replaceAll(this.folder, '…');
  }

  async #dispatch(command: string): Promise<string> {
    const words = wordsOf(command);
    if (command.startsWith('npm run pack -- ')) return this.#pack(words.slice(4));
    if (command.startsWith('npm run nightly')) return this.#nightly(words[words.indexOf('--only') + 1]!);
    if (command.startsWith('npm start')) return '';
    if (words[0] === 'curl') return this.#request(words.slice(1));
    if (words[0] === 'sqlite3') return this.#sqlite(words[1]!, words[2]!);
    if (words[0] === 'duckdb') return this.#duckdb(words[2]!);
    if (words[0] === 'psql') return this.#psql(words.at(-1)!);
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: this.folder });
    return stdout;
  }

  async #pack(args: string[]): Promise<string> {
    const lines: string[] = [];
    await runPackCommand(
      args.map((word) => this.#local(word)),
      { cwd: this.folder, log: (line) => lines.push(line), environment: this.#environment() } as Parameters<
        typeof runPackCommand
      >[1],
    );
    return lines.join('\n');
  }

  async #nightly(id: string): Promise<string> {
    let printed = '';
    const write = (text: string) => {
      printed += text;
    };
    const config = readConfig(this.#environment());
    const identity = {
      base_url: config.BASE_URL,
      database_url: undefined,
      environment: this.#environment(),
      open_hosts: config.COLLECT_ALLOW_HOSTS,
    };
    const effects: Effects = {
      ...realEffects(undefined, identity),
      progress: showProgress({ write, ticks: () => performance.now() }),
    };
    if (this.#options.renders) await runNight(config, effects, { only: [id], accept: false });
    else {
      const pack = await loadPack(join(this.folder, 'packs', id));
      // Crawled pages are public; the local server is not.
      const crawls = pack.sources.some(({ crawl }) => crawl !== null);
      const web = async () => this.#anyWeb();
      await datasetNight(pack, config.DATA_DIR, crawls ? { ...effects, web } : effects, { accept: false }).catch(
        (error: unknown) => {
          if (!printed.includes('!')) throw error;
        },
      );
    }
    return printed;
  }

  async #request(words: string[]): Promise<string> {
    const headers = new Headers();
    let url = '';
    for (let i = 0; i < words.length; i++) {
      if (words[i] === '-H') {
        const [name, value] = words[++i]!.split(': ', 2);
        headers.set(name!, value!.replace('$KEY', ADMIN));
      } else if (!words[i]!.startsWith('-')) url = words[i]!;
    }
    const { app } = await this.#application();
    const answer = await app.request(url.replace(/^(http:\/\/)?localhost:8787/, ''), { headers });
    return answer.text();
  }

  async #application(): Promise<Application> {
    if (this.#service?.folder === this.folder) return this.#service.application;
    await this.#service?.application.close();
    const { DATA_DIR, DIST_DIR, BASE_URL, HOST } = readConfig(this.#environment());
    const packs = await Promise.all(this.names('packs').map((id) => loadPack(join(this.folder, 'packs', id))));
    const application = await compose({
      ...{ packs, dataDir: DATA_DIR, dist: DIST_DIR, base_url: BASE_URL, host: HOST },
      ...{ adminKeys: [ADMIN], eur_usd: 1.1, trust_proxy: 0, now: () => new Date(), log: () => {} },
      report: (error) => {
        throw error;
      },
    });
    this.#service = { application, folder: this.folder };
    return application;
  }

  #sqlite(file: string, sql: string): string {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    const database = new DatabaseSync(join(this.folder, file));
    database.exec(sql);
    database.close();
    return '';
  }

  async #duckdb(sql: string): Promise<string> {
    const duck = await Duck.open(join(this.folder, 'spill'));
    try {
      await duck.run(sql.replace(/(FROM|TO) '/g, `$1 '${this.folder}/`));
    } finally {
      duck.close();
    }
    return '';
  }

  async #psql(sql: string): Promise<string> {
    const client = new pg.Client({ connectionString: this.#options.environment!['SOURCE_DATABASE_URL'] });
    await client.connect();
    await client.query(sql);
    await client.end();
    return '';
  }

  #environment(): Record<string, string> {
    return {
      DATA_DIR: join(this.folder, 'data/var'),
      DIST_DIR: join(this.folder, 'dist'),
      PACK_DIRS: join(this.folder, 'packs'),
      ...(this.#site === '' ? {} : { COLLECT_ALLOW_HOSTS: this.#site.replace('http://', '') }),
      ...this.#options.environment,
    };
  }

  /** Starts the server that answers for SITE. */
  async listen(): Promise<void> {
    this.#server = createServer((request, response) => {
      const answer = this.#answers.get(request.url ?? '');
      if (answer === undefined) return void response.writeHead(404).end();
      const { SHOP_API_KEY } = this.#environment();
      const isAllowed = request.headers.authorization === `Bearer ${SHOP_API_KEY}`;
      if (request.url!.startsWith('/api/') && !isAllowed) return void response.writeHead(401).end();
      response.writeHead(200, { 'Content-Type': answer.type }).end(this.#local(answer.body));
    });
    await new Promise<void>((listening) => this.#server!.listen(0, '127.0.0.1', listening));
    this.#site = `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  #answer(url: string, body: string, language: string): void {
    const types: Record<string, string> = { json: 'application/json', html: 'text/html', csv: 'text/csv' };
    this.#answers.set(url.slice(SITE.length), { type: types[language] ?? 'text/plain', body });
  }

  #anyWeb(): Web {
    const options = { allowed: () => true, ports: null, sign: null, base_url: 'http://localhost:8787' };
    return new Web({ ...options, now: () => new Date(), wait: async () => {}, random: () => 0.5 });
  }

  #move(): void {
    const next = join(this.#parent, `run-${++this.#runs}`);
    if (this.#runs === 1) mkdirSync(next);
    else renameSync(this.folder, next);
    this.folder = next;
  }

  /** Names in a folder, for tests. */
  names(path: string): string[] {
    return readdirSync(join(this.folder, path)).sort();
  }

  async close(): Promise<void> {
    await this.#service?.application.close();
    this.#server?.closeAllConnections();
    if (this.#server !== undefined) await new Promise((closed) => this.#server!.close(closed));
    rmSync(this.#parent, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}
