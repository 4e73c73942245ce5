// Loaded into a service before its code (`node --import`): sends a sampling profile of its main thread to the bench over
// the IPC channel.
import { Session } from 'node:inspector/promises';

/** Microseconds between two samples of a profile. */
const INTERVAL = 100;
const session = new Session();

process.on('message', (message) => {
  if (message === 'profile') void startProfile();
  if (message === 'profiled') void session.post('Profiler.stop').then(({ profile }) => process.send?.(profile));
});

async function startProfile(): Promise<void> {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL });
  await session.post('Profiler.start');
}

// The channel must not keep a stopped service alive.
process.channel?.unref();
