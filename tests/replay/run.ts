// `npm run replay -- record|check <folder>`: records answers of the service over all channels, or compares
// the current ones with them.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../support/free-port.ts';
import { drawRequests, type Request } from './requests.ts';
import { startReplayed } from './service.ts';

const USAGE = `npm run replay -- record <folder> [--requests 2000]
npm run replay -- check <folder>

  <folder>  has data/ (a DATA_DIR) and dist/ (its DIST_DIR); the answers are kept beside them, in answers.ndjson
`;
/** Bytes of a body that are stored for reading; the hash covers all of it. */
const KEPT = 20_000;
/** Headers of the connection, and tags, which depend on the code's fingerprint. */
const LEFT_OUT = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'etag']);

interface Answer {
  status: number;
  headers: Record<string, string>;
  sha256: string;
  beginning: string;
}

/** Documents with a signature. */
const SIGNED = ['/.well-known/agent-card.json', '/.well-known/http-message-signatures-directory'];

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const KEY = /dsr_[0-9A-Za-z]{43}/g;
/** ECDSA uses a random number for each signature. */
const SIGNATURE = /(?<="signature":\s*")[\w-]+/g;
const plain = (text: string) =>
  text.replaceAll(UUID, '<uuid>').replaceAll(KEY, '<key>').replaceAll(SIGNATURE, '<signature>');

async function ask(origin: string, { method, path, headers, body }: Request, client: number): Promise<Answer> {
  // A network address for each request, so that no rate limit applies.
  const address = `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`;
  const answer = await fetch(origin + path, {
    method,
    headers: { ...headers, 'x-forwarded-for': address, 'accept-encoding': 'identity' },
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const text = plain(bytes.toString('latin1'));
  return {
    status: answer.status,
    headers: Object.fromEntries(
      [...answer.headers].filter(([name]) => !LEFT_OUT.has(name)).map(([name, value]) => [name, plain(value)]),
    ),
    sha256: createHash('sha256').update(text, 'latin1').digest('hex'),
    beginning: Buffer.from(text.slice(0, KEPT), 'latin1').toString(),
  };
}

/** The first difference of two texts, with its context. */
function parting(before: string, after: string): string {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 60), at + 120));
  return `  before: ${around(before)}\n  after:  ${around(after)}`;
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { requests: { type: 'string', default: '2000' } },
});
const [mode, folder = ''] = positionals;
if ((mode !== 'record' && mode !== 'check') || !existsSync(join(folder, 'data'))) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const file = join(folder, 'answers.ndjson');
if (mode === 'record') {
  // Keys that a service makes at their first use are part of the recording.
  const first = await startReplayed(join(folder, 'data'), join(folder, 'dist'), await freePort(), true);
  for (const path of SIGNED) await fetch(first.origin + path);
  await first.stop();
}
const service = await startReplayed(join(folder, 'data'), join(folder, 'dist'), await freePort());
try {
  const known =
    mode === 'record'
      ? (await drawRequests(service.origin, Number(values.requests))).map((request) => ({ request, answer: null }))
      : readFileSync(file, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as { request: Request; answer: Answer });
  const lines: string[] = [];
  let different = 0;
  for (const [i, { request, answer: before }] of known.entries()) {
    const answer = await ask(service.origin, request, i + 1);
    if (before === null) lines.push(JSON.stringify({ request, answer }));
    else if (JSON.stringify(before) !== JSON.stringify(answer)) {
      different += 1;
      process.stdout.write(`${request.method} ${request.path} ${request.body ?? ''}\n`);
      process.stdout.write(`${parting(JSON.stringify(before), JSON.stringify(answer))}\n`);
    }
  }
  if (mode === 'record') writeFileSync(file, `${lines.join('\n')}\n`);
  process.stdout.write(
    mode === 'record'
      ? `${known.length} answers recorded in ${file}\n`
      : `${known.length - different} of ${known.length} answers are the same\n`,
  );
  process.exitCode = different > 0 ? 1 : 0;
} finally {
  await service.stop();
}
