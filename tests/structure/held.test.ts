// The table of operators.md of all that anybody can hold or send: its numbers are those of the program.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CALLS } from '../../api/access/limits.ts';
import type { NetworkQuota } from '../../api/access/network-quotas.ts';
import { PREVIEWS_A_DAY } from '../../api/access/previews.ts';
import { SQL_SECONDS } from '../../api/access/sql.ts';
import { KEYS_A_DAY, MAILS_A_DAY } from '../../api/accounts/accounts.ts';
import { STREAMS } from '../../api/channels/mcp/listen.ts';
import { DOWNLOADS } from '../../api/channels/static/documents.ts';
import { TURNS } from '../../api/channels/static/page-rows.ts';
import { LOWEST_RATE, TEXTS } from '../../api/http/streams.ts';
import { ATTEMPTS } from '../../api/owners/parts.ts';
import { REPORTS } from '../../api/owners/requests.ts';
import { LARGE_ANSWERS_A_DAY } from '../../api/payments/idempotency.ts';
import { KEPT_MOMENTS } from '../../data/duckdb/moments.ts';
import { SUBSCRIPTIONS } from '../../data/model/subscriptions.ts';
import { DEFAULT_LIMITS } from '../../data/plan/limits.ts';
import { KEPT, WAITING } from '../../data/sql/process.ts';
import { MOST_CHILDREN } from '../../data/state/keys/children.ts';
import { SENDS } from '../../data/state/sends.ts';

const { payg, pro, scale } = SUBSCRIPTIONS;
const { running, waiting, patience, statement, kept } = DEFAULT_LIMITS;
const networks = ({ address, blocks }: NetworkQuota) =>
  [`${address} an address`, ...Object.entries(blocks).map(([bits, units]) => `${units} an IPv6 /${bits}`)].join(', ');
const sends = ({ hour, day }: { hour: number; day: number }) => `${hour} an hour, ${day} a day`;

/** What, how many, for how long, whose share. */
const ROWS: [string, string, string, string][] = [
  ['free calls', `${CALLS.free} a minute`, 'the call', 'an address or a key'],
  [
    'paid calls',
    `${CALLS.paid} a minute (pro ${pro.calls}, scale ${scale.calls})`,
    'the call',
    'an address or a key with its child keys',
  ],
  [
    'queries that DuckDB answers',
    `at most ${Math.max(running, 3)} run, ${waiting} wait`,
    `${patience / 1000} s waiting, ${statement / 1000} s running`,
    `${kept} of each kept for callers with a key, who go first`,
  ],
  [
    'earlier states (`as_of`) that are built',
    `one for a dataset, ${waiting} wait; the last ${KEPT_MOMENTS} stay`,
    `${patience / 1000} s waiting`,
    `${kept} that waits kept for callers with a key, who go first`,
  ],
  [
    'texts that are generated (`llms-full.txt`)',
    `${TEXTS.all}; 1 of a caller`,
    `while ${LOWEST_RATE / 1000} kB a second are read`,
    `${TEXTS.kept} kept for callers with a key`,
  ],
  [
    'downloads of exports',
    `${DOWNLOADS.of_address} of an address`,
    `while ${LOWEST_RATE / 1000} kB a second are read`,
    'an address',
  ],
  [
    'statements of SQL',
    `one for two cores, ${WAITING} wait; ${CALLS.sql} a minute`,
    `${SQL_SECONDS.public} s on public columns, ${SQL_SECONDS.all} s on all; ${CALLS.sql_time / 1000} s a minute`,
    `${KEPT} of each kept for callers with a key`,
  ],
  [
    'rows of a page (CSV, JSON, points)',
    `${CALLS.rows} a minute; ${TURNS.running} runs, ${TURNS.waiting} wait`,
    `${TURNS.patience / 1000} s waiting`,
    'an address',
  ],
  [
    'streams of `subscriptions/listen`',
    `${STREAMS.all}; ${STREAMS.of_caller} of a caller`,
    '10 min',
    `${STREAMS.anonymous} for callers without a key, whose oldest stream gives way to a key`,
  ],
  [
    'long polls of the change feed',
    `${CALLS.paid} a minute (pro ${pro.calls}, scale ${scale.calls})`,
    '30 s',
    'keys of plans with changes only',
  ],
  ['free previews', `${PREVIEWS_A_DAY} records a day`, 'a day (UTC)', 'an address and a dataset'],
  ['new keys', networks(KEYS_A_DAY), 'a day (UTC)', 'a network'],
  ['child keys', String(MOST_CHILDREN), 'until they end', 'a key'],
  ['requests for a mailed link', networks(MAILS_A_DAY), 'a day (UTC)', 'a network'],
  ['claims and opt-outs', networks(ATTEMPTS), 'a day (UTC)', 'a network'],
  ['reports', networks(REPORTS), 'a day (UTC)', 'a network'],
  [
    'mails to an address that never followed a mailed link',
    sends(SENDS.mail),
    'sliding',
    'a recipient, all kinds together',
  ],
  ['mails that are requested', sends(SENDS.network), 'sliding', 'a network address'],
  [
    'verifications of webhooks',
    `${sends(SENDS.host)} at a host; ${sends(SENDS.caller)} of a key`,
    'sliding',
    'a host and a key',
  ],
  [
    'subscriptions',
    `payg ${payg.subscriptions}, pro ${pro.subscriptions}, scale ${scale.subscriptions}, child 0`,
    'until deleted, and a day more',
    'a key',
  ],
  ['large answers stored for an `Idempotency-Key`', `${LARGE_ANSWERS_A_DAY / 2 ** 20} MB`, 'a day (UTC)', 'a key'],
];

it('lists what anybody can hold or send as the program bounds it', () => {
  const text = readFileSync(new URL('../../docs/operators.md', import.meta.url), 'utf8');
  const lines = ROWS.map((cells) => `| ${cells.join(' | ')} |`);
  const start = text.indexOf('| what | how many |');
  const table = text.slice(start, text.indexOf('\n\n', start)).split('\n').slice(2);
  expect(table, `write into docs/operators.md:\n${lines.join('\n')}`).toEqual(lines);
});
