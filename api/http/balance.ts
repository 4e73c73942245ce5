// Balances the connections of threads that listen on the same port (WORKERS). The kernel chooses a thread at random
// for each new connection, and a client such as a proxy keeps its connections for hours: of 16 connections, one thread
// may have 12. A thread with too many closes some after their next response, and their clients connect again.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds between two counts of the connections in use. */
const COUNT = 200;
/** A connection is in use when it had a request in this many counts. Idle ones cost a thread nothing. */
const IN_USE = 5;
/** A thread closes connections when it has more than this share of the mean. */
const SHARE = 1.15;

/** The place of a thread among those that share a port. */
export interface ThreadPlace {
  /** Connections in use by thread, in shared memory. */
  connections: Int32Array;
  /** Index of this thread. */
  thread: number;
}

/** Closes connections of a thread's server as long as it has more of them than the others. */
export function balanceConnections(server: Server, { connections, thread }: ThreadPlace): void {
  /** Open connections, with the number of the count in which each had its last request. */
  const open = new Map<Socket, number>();
  let counts = 0;
  let surplus = 0;
  server.on('connection', (socket) => {
    open.set(socket, counts);
    socket.once('close', () => open.delete(socket));
  });
  // Before the listener that answers, because it may send the headers at once.
  server.prependListener('request', ({ socket }, response) => {
    if (open.has(socket)) open.set(socket, counts);
    if (surplus === 0) return;
    surplus -= 1;
    response.setHeader('Connection', 'close');
  });
  const counting = setInterval(() => {
    counts += 1;
    let used = 0;
    for (const last of open.values()) if (counts - last <= IN_USE) used += 1;
    Atomics.store(connections, thread, used);
    surplus = surplusOf(connections, thread);
  }, COUNT);
  counting.unref();
  server.once('close', () => {
    clearInterval(counting);
    Atomics.store(connections, thread, 0);
  });
}

/** Connections that a thread has beyond the mean; 0 when the difference is small. */
export function surplusOf(connections: Int32Array, thread: number): number {
  const used = connections.map((_, i) => Atomics.load(connections, i));
  const ownCount = used[thread]!;
  const mean = used.reduce((sum, count) => sum + count, 0) / used.length;
  // A difference of one cannot be balanced.
  if (ownCount <= mean * SHARE || ownCount - Math.min(...used) < 2) return 0;
  return Math.floor(ownCount - mean);
}
