// Loaded into a service before its code (`node --import`): sends the vitals of the process, or a sampling profile of its
// main thread, to its parent over the IPC channel.
import { Session } from 'node:inspector/promises';

/** Memory in MB, and the most processor time in milliseconds of one turn of the event loop since the last call. */
export interface Vitals {
  /** 0 before `turns` was sent. */
  turn: number;
  heap: number;
  rss: number;
}

/** Microseconds between two samples of a profile. */
const INTERVAL = 100;
const session = new Session();
const mb = (bytes: number) => Math.round(bytes / 2 ** 20);
let longestTurn = 0;

process.on('message', (message) => {
  if (message === 'profile') void startProfile();
  if (message === 'profiled') void session.post('Profiler.stop').then(({ profile }) => process.send?.(profile));
  if (message === 'turns') watchTurns();
  if (message === 'vitals') process.send?.(vitals());
});

function vitals(): Vitals {
  const { heapUsed, rss } = process.memoryUsage();
  const turn = Math.round(longestTurn * 100) / 100;
  longestTurn = 0;
  return { turn, heap: mb(heapUsed), rss: mb(rss) };
}

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
