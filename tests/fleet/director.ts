// Plays one scenario after the other under load, and measures each.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Item } from './calls.ts';
import { releaseOf, slugOf, stockOf } from './dataset.ts';
import { until } from './programs.ts';
import { type Counts, chargesSince, failuresOf, reconcile, type Window } from './reconcile.ts';
import { NOTICED, type Scenario } from './scenarios.ts';
import type { Removal, World } from './world.ts';

export interface Result {
  name: string;
  seconds: number;
  counts: Counts;
  /** Seconds until every process served the newest release, and applied the opt-out; of processes with a fault, since its end. */
  release: number;
  removal: number;
  /** Further observations, and what went wrong besides the counts. */
  notes: string[];
  failures: string[];
}

/** When each process first served a release or applied an opt-out. */
class Watch {
  readonly #world: World;
  readonly #seen = new Map<string, number>();
  #active = true;
  #waits: Promise<void>[] = [];
  removal: Removal | null = null;

  constructor(world: World) {
    this.#world = world;
    this.#waits = world.nodes.map((_, index) => this.#look(index));
  }

  async #look(index: number): Promise<void> {
    const { address } = this.#world.nodes[index]!;
    const get = (path: string) =>
      fetch(`http://${address}${path}`, {
        headers: { Authorization: `Bearer ${this.#world.adminKey}` },
        signal: AbortSignal.timeout(1_500),
      });
    while (this.#active) {
      try {
        const { attributes } = (await (await get(`/v1/parts/entities/${slugOf(0)}`)).json()) as Item;
        const release = releaseOf(0, attributes['stock'], attributes['price.list']);
        for (let number = release ?? 0; number > 0 && !this.#seen.has(`${index} release ${number}`); number -= 1)
          this.#note(`${index} release ${number}`);
        const { removal } = this;
        if (removal !== null && !this.#seen.has(`${index} opt-out ${removal.record}`)) {
          const { status } = await get(`/v1/parts/entities/${slugOf(removal.record)}`);
          if (status === 404 || status === 410) this.#note(`${index} opt-out ${removal.record}`);
        }
      } catch {}
      await sleep(150);
    }
  }

  #note(key: string): void {
    if (!this.#seen.has(key)) this.#seen.set(key, performance.now());
  }

  /** Seconds after `from` at which the last process had `key`; `late`: starts for processes with a fault. */
  async seconds(key: string, from: number, late: (index: number) => number): Promise<number> {
    const nodes = [0, 1, 2];
    await until(`${key} at every process`, () => nodes.every((index) => this.#seen.has(`${index} ${key}`)), 150);
    return Math.max(...nodes.map((i) => Math.max(0, this.#seen.get(`${i} ${key}`)! - Math.max(from, late(i))))) / 1000;
  }

  async end(): Promise<void> {
    this.#active = false;
    await Promise.all(this.#waits);
  }
}

/** Opt-outs of a run: a dataset has at most 20 immediate ones an hour. */
const REMOVALS = 19;
let lastEntry = -1;

/** Plays a scenario. */
export async function play(world: World, scenario: Scenario, print: (line: string) => void): Promise<Result> {
  const { store } = world.services;
  if (lastEntry < 0) lastEntry = (await chargesSince(store, 0)).last;
  const result: Result = {
    ...{ name: scenario.name, seconds: 0, release: Number.NaN, removal: Number.NaN, notes: [], failures: [] },
    counts: reconcile([], [], []),
  };
  const began = performance.now();
  const first = world.load.calls.length;
  const nightsBefore = world.failedNights.length;
  const watch = new Watch(world);
  world.load.start();
  await sleep(1_500);
  const from = performance.now();
  let repaired = Number.POSITIVE_INFINITY;
  try {
    const work = async () => {
      for (let count = 0; count < (scenario.releases ?? 1); count += 1)
        await world.publish({ together: scenario.together ?? false, disturb: scenario.night });
    };
    await scenario.fault(world);
    const publishing = work();
    const removing = world.removals.length < REMOVALS ? world.optOut() : Promise.resolve(null);
    for (const promise of [publishing, removing]) promise.catch(() => {});
    removing.then((removal) => (watch.removal = removal)).catch(() => {});
    await sleep(scenario.seconds * 1000);
    await scenario.repair(world);
    repaired = performance.now();
    await publishing;
    const removal = await removing;
    await world.ready();
    const late = (index: number) => (scenario.affects?.includes(index) ? repaired : 0);
    result.release = await watch.seconds(`release ${world.release.number}`, world.release.at, late);
    if (removal !== null) result.removal = await watch.seconds(`opt-out ${removal.record}`, removal.at, late);
    if (scenario.check) result.notes.push(await scenario.check(world));
  } catch (error) {
    result.failures.push((error as Error).message);
    if (repaired === Number.POSITIVE_INFINITY) await scenario.repair(world).catch(() => {});
    await world.ready().catch((problem: Error) => result.failures.push(problem.message));
  }
  await sleep(1_000);
  await world.load.stop();
  await watch.end();
  // Charges of calls whose client has gone end before the ledger is read.
  await sleep(500);
  const windows = windowsOf(world, scenario, from, Math.min(repaired, performance.now()));
  const { charges, last } = await chargesSince(store, lastEntry);
  lastEntry = last;
  result.counts = reconcile(world.load.calls.slice(first), charges, windows);
  for (const night of world.failedNights.slice(nightsBefore)) print(`  night: ${night}`);
  result.seconds = (performance.now() - began) / 1000;
  const { counts } = result;
  for (const problem of [...counts.problems.slice(0, 12), ...result.failures]) print(`  ! ${problem}`);
  print(
    `  ${counts.calls} calls, ${failuresOf(counts)} that must be 0, ${counts.unavailable} unavailable, ${counts.inFlight} in flight, ${counts.inFlightCharged} charged in flight; release ${result.release.toFixed(1)} s, opt-out ${result.removal.toFixed(1)} s; ${result.seconds.toFixed(0)} s`,
  );
  return result;
}

function windowsOf(world: World, { mayFail }: Scenario, from: number, repaired: number): Window[] {
  if (!mayFail) return [];
  return [mayFail(world)].flat().map(({ throughout, ...window }) => ({
    ...window,
    from: from - 50,
    until: throughout ? repaired + NOTICED : from + NOTICED,
  }));
}

/** What must be true at the end: facts, decisions, mails and messages that are lost. */
export async function lostThings(world: World): Promise<{ facts: string[]; decisions: string[]; mails: string[] }> {
  const lost = { facts: [] as string[], decisions: [] as string[], mails: [] as string[] };
  const headers = { Authorization: `Bearer ${world.adminKey}` };
  const { number } = world.release;
  for (const node of world.nodes) {
    const get = (path: string) => fetch(`http://${node.address}${path}`, { headers });
    for (const record of [0, 77, 150]) {
      const answer = (await (await get(`/v1/parts/entities/${slugOf(record)}/facts`)).json()) as {
        facts: { attribute: string; value?: unknown }[];
      };
      const values = new Set(answer.facts.filter(({ attribute }) => attribute === 'stock').map(({ value }) => value));
      for (let release = 1; release <= number; release += 1)
        if (!values.has(stockOf(record, release)))
          lost.facts.push(`${node.name}: stock of release ${release} of ${record}`);
    }
    for (const { record } of world.removals) {
      const { status } = await get(`/v1/parts/entities/${slugOf(record)}`);
      if (status === 200) lost.decisions.push(`${node.name} serves ${slugOf(record)}`);
    }
  }
  await until(
    'no mail waits',
    async () =>
      (await world.services.store.db.selectFrom('mails').select('id').where('failed_at', 'is', null).execute())
        .length === 0,
    90,
  ).catch((error: Error) => lost.mails.push(error.message));
  for (const { record } of world.removals)
    if (!world.mail.mails.some(({ to }) => to.includes(`office@maker-${record}.example`)))
      lost.mails.push(`the mail about ${slugOf(record)}`);
  await until('all messages', () => missingMessages(world).length === 0, 90).catch(() => {});
  lost.facts.push(...missingMessages(world));
  return lost;
}

/** Releases of which the receiver of webhooks did not get the new value of every record. */
function missingMessages({ receiver, announced }: World): string[] {
  const seen = new Set<string>();
  for (const { body } of receiver.received)
    for (const change of (body.data['changes'] as { entity_id?: string; slug?: string; new_value?: unknown }[]) ?? [])
      seen.add(`${change.slug} ${change.new_value}`);
  return announced.filter((release) => !seen.has(keyOf(release))).map((release) => `webhook of release ${release}`);
}

const keyOf = (release: number) => `${slugOf(5)} ${stockOf(5, release)}`;
