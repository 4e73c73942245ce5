// Loaded into a service before its own code (`node --import`): tells the bench, over the process channel, what only the process itself knows.
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What a process says of itself: event-loop delay and time on the processor in milliseconds since the last time it was asked, memory in MB. */
export interface Vitals {
  cpu: number;
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

process.on('message', (asked) => {
  if (asked !== 'vitals') return;
  const { heapUsed, external, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage(since);
  since = process.cpuUsage();
  const told: Vitals = {
    cpu: Math.round((user + system) / 1000),
    delay: { p50: ms(delay.percentile(50)), p99: ms(delay.percentile(99)), max: ms(delay.max) },
    heap: mb(heapUsed),
    external: mb(external),
    rss: mb(rss),
  };
  delay.reset();
  process.send?.(told);
});
// The channel alone must not keep a service alive that was told to stop.
process.channel?.unref();
