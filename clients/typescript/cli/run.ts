// The command line: finds the command, runs it, and turns errors into messages and exit codes.
import { CLIENT_VERSION } from '../operations.ts';
import { OPTION_TEXTS, parseArguments, SHARED } from './arguments.ts';
import { COMMANDS, type Command } from './commands.ts';
import { completionScript, SHELLS } from './completion.ts';
import { storeCredential, UsageError } from './config.ts';
import { adviceFor, Context, type Terminal } from './context.ts';
import { bridge, type Credentials } from './mcp.ts';
import { refreshTokens, signIn } from './sign-in.ts';

/** Commands that call no operation, with their options. */
const OTHERS: Readonly<Record<string, Omit<Command, 'run'>>> = {
  mcp: { usage: '', about: 'serve MCP over stdio for local agents', options: ['tools', 'datasets', 'sign-in'] },
  completion: { usage: SHELLS.join(' | '), about: 'print the completion of a shell', options: [] },
};

const ALL = { ...COMMANDS, ...OTHERS };

const USAGE = `usage: register <command> [arguments] [options]

${Object.entries(ALL)
  .map(([name, { about }]) => `  ${name.padEnd(12)}${about}`)
  .join('\n')}

A terminal gets tables, a pipe JSON. \`register <command> --help\` lists the options of a command.
`;

/** Usage and options of a command. */
function helpOf(name: string): string {
  const { usage, about, options } = ALL[name]!;
  const lines = [...options, ...Object.keys(SHARED)].map(
    (option) => `  --${option.padEnd(12)} ${OPTION_TEXTS[option]}`,
  );
  return `usage: register ${`${name} ${usage}`.trim()}\n\n${about}\n\n${lines.join('\n')}\n`;
}

/**
 * Runs a command and returns its exit code: 0, 1 for an error of the service, 2 for a wrong argument.
 *
 * @example
 * ```ts
 * process.exitCode = await run(process.argv.slice(2), process);
 * ```
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name = '', ...others] = args;
  try {
    if (['', '-h', '--help', 'help'].includes(name)) {
      (name === '' ? terminal.stderr : terminal.stdout).write(USAGE);
      return name === '' ? 2 : 0;
    }
    if (name === '--version' || name === '-v') {
      terminal.stdout.write(`${CLIENT_VERSION}\n`);
      return 0;
    }
    if (!Object.hasOwn(ALL, name)) throw new UsageError(`unknown command '${name}'\n\n${USAGE}`);
    await runCommand(name, others, terminal);
    return 0;
  } catch (error) {
    // The reader of a pipe, such as head, has ended.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return 0;
    terminal.stderr.write(`register: ${adviceFor(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function runCommand(name: string, args: readonly string[], terminal: Terminal): Promise<void> {
  const parsed = parseArguments(args, ALL[name]!.options);
  if (parsed.values['help'] === true) return void terminal.stdout.write(helpOf(name));
  if (name === 'completion') {
    const shell = SHELLS.find((known) => known === parsed.positionals[0]);
    if (shell === undefined) throw new UsageError(`register completion: use ${SHELLS.join(', ')}`);
    const words = Object.entries(ALL).map(([command, { options }]) => [command, [...options, ...Object.keys(SHARED)]]);
    return void terminal.stdout.write(completionScript(shell, Object.fromEntries(words)));
  }
  const context = new Context(parsed, terminal);
  if (name === 'mcp') return runBridge(context, terminal);
  await COMMANDS[name]!.run(context);
  context.printCost();
}

async function runBridge(context: Context, terminal: Terminal): Promise<void> {
  const { url } = context.service;
  const query = new URLSearchParams(context.parameters('tools', 'datasets'));
  const endpoint = `${url}/mcp${query.size > 0 ? `?${query}` : ''}`;
  const credentials = bridgeCredentials(context);
  if (context.flag('sign-in')) await credentials.current();
  await bridge({ endpoint, credentials, input: terminal.stdin, output: terminal.stdout });
}

/** The key, or the tokens of a sign-in, which are stored in the config file. */
function bridgeCredentials(context: Context): Credentials {
  const { url, key, config, path } = context.service;
  let tokens = config.services?.[url]?.oauth;
  let renewal: Promise<string | undefined> | undefined;
  const note = (text: string) => context.note(text);
  const renew = async () => {
    try {
      tokens = tokens?.refresh_token ? await refreshTokens(tokens) : undefined;
    } catch {
      tokens = undefined;
    }
    if (tokens === undefined && context.flag('sign-in')) tokens = await signIn(url, { note });
    if (tokens !== undefined) storeCredential(path, url, { oauth: tokens });
    return tokens?.access_token;
  };
  // Calls that need a new token at the same time share it.
  const renewOnce = () => {
    renewal ??= renew().finally(() => {
      renewal = undefined;
    });
    return renewal;
  };
  return {
    async current() {
      if (key !== undefined) return key;
      const valid = tokens !== undefined && tokens.expires_at > Date.now();
      if (valid) return tokens?.access_token;
      return tokens !== undefined || context.flag('sign-in') ? renewOnce() : undefined;
    },
    renew: async () =>
      key === undefined && (tokens !== undefined || context.flag('sign-in')) ? renewOnce() : undefined,
  };
}
