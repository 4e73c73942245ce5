// Loaded into a service before its code (`node --import`): sends the vitals of the process, or a sampling
// profile of its main thread, to the bench over the IPC channel.
import { Session } from 'node:inspector/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Vitals of a process: event-loop delay and processor time in milliseconds since the last call, memory in MB.
 */
export interface Vitals {
  cpu: number;
  /** Most processor time of the main thread in one turn of the event loop; 0 before `turns` was sent. */
  turn: number;
  delay: { p50: number; p99: number; max: number };
  heap: number;
  external: number;
  rss: number;
}

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let since = process.cpuUsage();
const mb = (bytes: number) => Math.round(bytes / 2 ** 20);
const ms = (nanoseconds: number) => Math.round(nanoseconds / 1e4) / 100;

/** Microseconds between two samples of a profile. */
const INTERVAL = 100;
const session = new Session();

process.on('message', (asked) => {
  if (asked === 'turns') watchTurns();
  if (asked === 'profile') void startProfile();
  if (asked === 'profiled') void session.post('Profiler.stop').then(({ profile }) => process.send?.(profile));
  if (asked !== 'vitals') return;
  const { heapUsed, external, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage(since);
  since = process.cpuUsage();
  const told: Vitals = {
    cpu: Math.round((user + system) / 1000),
    turn: Math.round(longestTurn * 100) / 100,
    delay: { p50: ms(delay.percentile(50)), p99: ms(delay.percentile(99)), max: ms(delay.max) },
    heap: mb(heapUsed),
    external: mb(external),
    rss: mb(rss),
  };
  delay.reset();
  longestTurn = 0;
  process.send?.(told);
});

let longestTurn = 0;

/** Measures the processor time between two turns; a timer runs once in a turn, at most every millisecond. */
function watchTurns(): void {
  let before = process.threadCpuUsage();
  setInterval(() => {
    const now = process.threadCpuUsage();
    longestTurn = Math.max(longestTurn, (now.user + now.system - before.user - before.system) / 1000);
    before = now;
  }, 1).unref();
}

async function startProfile(): Promise<void> {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL });
  await session.post('Profiler.start');
}

// The channel must not keep a stopped service alive.
process.channel?.unref();
