// The report of a run of the fleet test, as Markdown.
import { cpus, totalmem } from 'node:os';
import type { Result } from './director.ts';
import type { World } from './world.ts';

export interface Report {
  world: World;
  results: readonly Result[];
  lost: Record<'facts' | 'decisions' | 'mails', string[]>;
  /** Scenarios that this machine could not run, with the reason. */
  left: readonly string[];
  seconds: number;
}

const seconds = (value: number) => (Number.isNaN(value) ? '–' : value.toFixed(1));
const bad = (count: number) => (count === 0 ? '0' : `**${count}**`);

/** The report; figures that must be 0 and are not are bold. */
export function reportText({ world, results, lost, left, seconds: duration }: Report): string {
  const rows = results.map(({ name, counts, release, removal, notes, failures }) =>
    [
      `| ${[name, ...notes].join('; ')}${failures.length > 0 ? ` **${failures.join('; ')}**` : ''}`,
      ...[counts.calls, bad(counts.wrong), bad(counts.uncharged), bad(counts.chargedOnly)],
      ...[bad(counts.failed + counts.unanswered), counts.unavailable + counts.refused],
      ...[counts.inFlight, counts.inFlightCharged, seconds(release), `${seconds(removal)} |`],
    ].join(' | '),
  );
  const sum = (column: number) =>
    rows.reduce((all, row) => all + Number(row.split(' | ')[column]!.replaceAll('*', '')), 0);
  const total = `| **all** | ${sum(1)} | ${[2, 3, 4, 5].map((column) => bad(sum(column))).join(' | ')} | ${sum(6)} | ${sum(7)} | ${sum(8)} | | |`;
  const [cpu] = cpus();
  const machine = `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`;
  return `## Fleet

Written by \`npm run fleet\` on ${new Date().toISOString().slice(0, 10)} (${machine}, Node ${process.versions.node}; ${Math.round(duration / 60)} minutes
for ${results.length} scenarios). \`npm run fleet -- --short\` runs a selection in three minutes, as a step of \`.ci/run\`.

### What runs

Three API processes behind a load balancer, two machines for the nightly run, PostgreSQL, Redis, an S3 server, a mail
server, a receiver of webhooks, and a chain for x402, all on one machine:

${world.described.map((line) => `- ${line}`).join('\n')}
- a wrong clock, and EIO, come from a module that is preloaded into the API processes

Eleven clients call all the time, through the balancer: free calls and previews, records and searches with a key, the
same with an \`Idempotency-Key\` until they are answered, MCP, A2A, SQL, lists of webhook subscriptions, and purchases by
x402. During each fault an owner removes a record, a night publishes a release, and its changes are posted to the
receiver. The balancer reads \`/readyz\` twice a second and gives calls to processes that are ready, or to all while none
is. It repeats a call at another process if it cannot connect, and a \`GET\` also if a process does not answer.

### How it is counted

Every value of every release follows from the number of record and release, so each answer can be checked. Each call has
an \`X-Request-Id\` of its client, which is in the ledger row of its charge.

- **wrong**: values of no release, or of another one than the answer names; a record that is missing, or that was removed
  more than 5 s before.
- **uncharged**: an answer that has no row in the ledger, or another amount. **charged only**: a row without an answer,
  except of calls in flight.
- **failed**: an answer other than 200, or none; except 503 with \`Retry-After\`, and calls in flight at a process that is
  killed, stopped or cut off. A purchase that is repeated for 90 s without an answer counts too.
- **503**: answers 503 with \`Retry-After\`. **in flight**: calls without an answer, and **charges** without one, of calls
  that were in flight at the faulty part.
- **release**, **opt-out**: seconds until every process serves the release and no longer serves the record; for a
  process that has a fault, from its repair. –: no record was removed, since owners can remove 20 an hour.

The first four must be 0; else they are bold, and the command fails.

### Results

| scenario | calls | wrong | uncharged | charged only | failed | 503 | in flight | charges | release, s | opt-out, s |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}
${total}

At the end of this run, ${world.release.number} releases and ${world.removals.length} opt-outs: facts and webhook messages lost ${bad(lost.facts.length)}, decisions lost ${bad(lost.decisions.length)},
mails lost ${bad(lost.mails.length)}. Every process was queried for the readings of all releases and for every removed record; the mail
server and the receiver of webhooks were compared with what was answered.
${left.length === 0 ? '' : `\nLeft out in this run:\n\n${left.map((line) => `- ${line}`).join('\n')}\n`}`;
}
