// The faults of the fleet test, one row for each: what breaks, what repairs it, and what may fail meanwhile.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHECKOUT, damageObjects } from './machines.ts';
import { type Program, until } from './programs.ts';
import type { Window } from './reconcile.ts';
import type { Part } from './services.ts';
import type { World } from './world.ts';

/** Milliseconds until the balancer notices a process that stopped to answer: its interval, and its patience. */
export const NOTICED = 3_000;

/** What may fail; `throughout`: during the whole fault, and not only when it begins. */
type Loss = Omit<Window, 'from' | 'until'> & { throughout?: boolean };

export interface Scenario {
  name: string;
  /** Whether `npm run fleet -- --short` runs it. */
  short?: boolean;
  /** Seconds between fault and repair. */
  seconds: number;
  fault(world: World): Promise<unknown>;
  repair(world: World): Promise<unknown>;
  /**
   * What may fail: calls in flight at these addresses when the fault begins, or during the whole fault; charges of calls
   * that are answered with 503. Absent: nothing.
   */
  mayFail?: (world: World) => Loss | Loss[];
  /** Numbers of the nodes (0 to 2) from whose repair their seconds count. */
  affects?: readonly number[];
  /** Releases during the fault; 1 if absent. */
  releases?: number;
  /** Happens to the first night of the release. */
  night?: (night: Program) => Promise<boolean>;
  /** Both runners start at once. */
  together?: boolean;
  /** Conditions besides the counts; a sentence for the table, or an error. */
  check?(world: World): Promise<string>;
  /** Whether this machine can run it; else the reason. */
  impossible?(world: World): string | null;
}

const none = async () => {};
const only = (...addresses: string[]) => ({ addresses: new Set(addresses), loses: 'calls' as const });
const every = (loses: 'calls' | 'charges') => ({ addresses: 'all' as const, loses });
/** The database: any call may be charged whose answer is 503. */
const database = () => ({ ...every('charges'), throughout: true });
const node = (index: 0 | 1 | 2) => (world: World) => world.nodes[index];

const killed = (name: string, part: (world: World) => Part, more: Partial<Scenario>): Scenario => ({
  name: `${name}: kill -9, restart`,
  seconds: 6,
  fault: (world) => part(world).kill(),
  repair: (world) => part(world).start(),
  ...more,
});
const stopped = (name: string, part: (world: World) => Part, more: Partial<Scenario>): Scenario => ({
  name: `${name}: SIGSTOP, SIGCONT`,
  seconds: 8,
  fault: (world) => part(world).hang(),
  repair: (world) => part(world).resume(),
  ...more,
});

const balancer = ({ balancer: { program } }: World): Part => ({
  name: program.name,
  kill: () => program.kill(),
  start: () => program.start(),
  hang: async () => program.stop(),
  resume: async () => program.resume(),
});

/** The run that a scenario stopped. */
let lastStopped: Program | null = null;
/** Waits until a night has read its source; false: it ended before, as one that another run keeps from starting. */
async function inTheMiddle(night: Program): Promise<boolean> {
  await until('the middle of the night', () => /append facts/.test(night.output()) || !night.isRunning, 60, 20);
  return night.isRunning;
}

const withoutDisk = ({ nodes }: World) => (nodes[2].hasDisk ? null : 'mounts are not permitted');

/** Writes until the disk is full. */
function fillDisk(file: string): void {
  const piece = Buffer.alloc(1 << 20);
  for (let written = 0; written < 1024; written += 1)
    try {
      appendFileSync(file, piece);
    } catch {
      return;
    }
}

let isRemounted = false;
/** Mounts a disk read-only. That is refused while a file is being written, or is removed and still open. */
async function remountReadOnly(folder: string): Promise<boolean> {
  for (let attempt = 0; attempt < 20; attempt += 1)
    try {
      execFileSync('mount', ['-o', 'remount,ro', folder], { stdio: 'ignore' });
      return true;
    } catch {
      await sleep(250);
    }
  return false;
}

/** Objects in the store, and a process that starts with an empty disk. */
const damaged = (what: string, how: 'byte' | 'half'): Scenario => {
  let mend = () => {};
  return {
    name: `object store: ${what}; an API process with an empty disk`,
    seconds: 6,
    affects: [0, 1, 2],
    mayFail: ({ nodes }) => only(nodes[0].address),
    async fault({ services, nodes: [first] }) {
      await first.kill();
      for (const name of readdirSync(first.dataDir)) rmSync(join(first.dataDir, name), { recursive: true });
      const files = readdirSync(services.s3.folder, { recursive: true, withFileTypes: true });
      const objects = files.filter(({ name }) => name.endsWith('_object'));
      mend = damageObjects(
        objects.map(({ parentPath, name }) => join(parentPath, name)),
        how,
      );
      await first.start();
    },
    repair: async () => mend(),
  };
};

/** Waits until a process reports that its clock is wrong, and the balancer gives it no calls. */
async function leaves({ balancer: { members } }: World, address: string, how: string): Promise<void> {
  const readyz = () =>
    fetch(`http://${address}/readyz`).then(
      (answer) => answer.text(),
      () => '',
    );
  const reason = new RegExp(`the clock of this machine is \\d+ s ${how} that of the database`);
  await until(`/readyz: ${how}`, async () => reason.test(await readyz()) && !members().includes(address), 15);
}

/** The oldest version with the dependencies of this one, as a folder with its program; null without a history. */
let earlier: string | null | undefined;
function earlierVersion(): string | null {
  if (earlier !== undefined) return earlier;
  const folder = mkdtempSync(join(tmpdir(), 'fleet-earlier-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: CHECKOUT, maxBuffer: 1 << 30 });
    const commit = String(git('log', '-1', '--format=%H', '--', 'package-lock.json')).trim();
    const archive = git('archive', commit);
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
    earlier = folder;
  } catch {
    earlier = null;
  }
  return earlier;
}

/** Replaces one API process after the other by another version. */
async function roll(world: World, version: string): Promise<void> {
  for (const machine of world.nodes) {
    await machine.program.terminate();
    machine.version = version;
    await machine.start();
    await world.ready();
  }
}

export const SCENARIOS: readonly Scenario[] = [
  { name: 'no fault', seconds: 2, fault: none, repair: none },
  { name: 'two runners at once', short: true, seconds: 2, together: true, fault: none, repair: none },
  killed('API process', node(0), { short: true, mayFail: ({ nodes }) => only(nodes[0].address), affects: [0] }),
  stopped('API process', node(1), { mayFail: ({ nodes }) => only(nodes[1].address), affects: [1] }),
  {
    name: 'all API processes restart one after the other (SIGTERM)',
    seconds: 1,
    affects: [0, 1, 2],
    fault: (world) => roll(world, CHECKOUT),
    repair: none,
  },
  killed('PostgreSQL', ({ services }) => services.postgres, { short: true, mayFail: database, affects: [0, 1, 2] }),
  stopped('PostgreSQL', ({ services }) => services.postgres, { mayFail: database, affects: [0, 1, 2] }),
  killed('Redis', ({ services }) => services.redis, { short: true }),
  stopped('Redis', ({ services }) => services.redis, {}),
  killed('object store', ({ services }) => services.s3, { affects: [0, 1, 2] }),
  stopped('object store', ({ services }) => services.s3, { affects: [0, 1, 2] }),
  killed('balancer', balancer, { seconds: 2, mayFail: () => ({ ...every('calls'), throughout: true }) }),
  stopped('balancer', balancer, { seconds: 2, mayFail: () => ({ ...every('calls'), throughout: true }) }),
  {
    name: 'object store: slow (0.3 s for each 64 KB)',
    seconds: 8,
    fault: async ({ services }) => services.s3.program.send({ delay: 300 }),
    repair: async ({ services }) => services.s3.program.send({ delay: 0 }),
  },
  {
    name: 'object store: connections end in the middle of an answer',
    seconds: 8,
    affects: [0, 1, 2],
    fault: ({ services }) => services.s3.proxy.set('cuts'),
    repair: ({ services }) => services.s3.proxy.set('none'),
  },
  damaged('one byte of each object is wrong', 'byte'),
  damaged('half of each object is missing', 'half'),
  {
    name: 'node 3: disk full',
    seconds: 10,
    affects: [2],
    impossible: withoutDisk,
    fault: async ({ nodes: [, , { dataDir }] }) => fillDisk(join(dataDir, 'full')),
    repair: async ({ nodes: [, , { dataDir }] }) => rmSync(join(dataDir, 'full')),
  },
  {
    name: 'node 3: disk read-only',
    seconds: 10,
    affects: [2],
    impossible: withoutDisk,
    async fault({ nodes: [, , third] }) {
      isRemounted = await remountReadOnly(third.dataDir);
      if (!isRemounted) third.fault({ io: 'EROFS' });
    },
    async repair({ nodes: [, , third] }) {
      if (isRemounted) execFileSync('mount', ['-o', 'remount,rw', third.dataDir]);
      else third.fault({});
    },
    check: async () => (isRemounted ? 'mounted read-only' : 'EROFS injected, since a removed file was still open'),
  },
  {
    name: 'node 3: EIO of every file, injected by a preloaded module',
    seconds: 10,
    affects: [2],
    fault: async ({ nodes: [, , third] }) => third.fault({ io: 'EIO' }),
    repair: async ({ nodes: [, , third] }) => third.fault({}),
  },
  {
    name: 'node 2: clock 10 minutes ahead, then 10 minutes behind',
    short: true,
    seconds: 4,
    affects: [1],
    mayFail: ({ nodes }) => ({ ...only(nodes[1].address), throughout: true, refuses: [401, 402] }),
    async fault(world) {
      const [, second] = world.nodes;
      second.fault({ clock: 600_000 });
      await leaves(world, second.address, 'ahead of');
      second.fault({ clock: -600_000 });
      await leaves(world, second.address, 'behind');
    },
    repair: async ({ nodes: [, second] }) => second.fault({}),
    check: async () => '`/readyz` reported it both times, and the balancer left it out',
  },
  {
    name: 'node 3: partition',
    seconds: 10,
    affects: [2],
    mayFail: ({ nodes }) => only(nodes[2].address),
    fault: ({ nodes }) => nodes[2].cut(),
    repair: ({ nodes }) => nodes[2].join(),
  },
  {
    name: 'rolling update to an earlier version and back',
    seconds: 1,
    affects: [0, 1, 2],
    impossible: () => (earlierVersion() === null ? 'the history of git has no earlier version' : null),
    async fault(world) {
      for (const version of [earlierVersion()!, CHECKOUT]) await roll(world, version);
    },
    repair: none,
  },
  {
    name: 'together: PostgreSQL and Redis hang, and an API process is killed',
    seconds: 8,
    affects: [0, 1, 2],
    mayFail: ({ nodes }) => [database(), { ...only(nodes[0].address), throughout: true }],
    async fault({ services, nodes }) {
      await services.postgres.hang();
      await services.redis.hang();
      await nodes[0].kill();
    },
    async repair({ services, nodes }) {
      await services.redis.resume();
      await services.postgres.resume();
      await nodes[0].start();
    },
  },
  {
    name: 'together: object store gone, node 3 cut off, another API process stopped',
    seconds: 8,
    affects: [0, 1, 2],
    mayFail: ({ nodes }) => only(nodes[1].address, nodes[2].address),
    async fault({ services, nodes }) {
      await services.s3.kill();
      await nodes[2].cut();
      await nodes[1].hang();
    },
    async repair({ services, nodes }) {
      await nodes[1].resume();
      await nodes[2].join();
      await services.s3.start();
    },
  },
  {
    name: 'three releases one after the other',
    seconds: 2,
    releases: 3,
    fault: none,
    repair: none,
  },
  {
    name: 'runner: kill -9 in the middle of a night',
    seconds: 1,
    fault: none,
    repair: none,
    async night(night) {
      if (!(await inTheMiddle(night))) return false;
      await night.kill();
      return true;
    },
  },
  {
    name: 'runner: SIGSTOP past its lease, then SIGCONT',
    seconds: 1,
    fault: none,
    repair: none,
    async night(night) {
      if (!(await inTheMiddle(night))) return false;
      night.stop();
      lastStopped = night;
      return true;
    },
    async check() {
      lastStopped?.resume();
      const code = await lastStopped?.exitCode();
      if (!/nothing more is published/.test(lastStopped?.output() ?? '')) throw new Error('the stopped run published');
      return `the stopped run ended with ${code} and published nothing`;
    },
  },
];
