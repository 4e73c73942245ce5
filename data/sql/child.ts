// Program of the SQL process: runs the statements that its parent sends, and ends with it.
import { DataError } from '../model/errors.ts';
import { SqlDatabases, type SqlQuery } from './engine.ts';
import type { ChildMessage, ParentMessage } from './process.ts';

/** Error of a statement after which DuckDB may be damaged, or the process has no memory left. */
const DAMAGED = new DataError('unavailable', 'The process that ran the statement ended.', undefined, 1);

/** Bytes that the process must be able to reserve to go on. */
const SPARE = 64 * 2 ** 20;

const { folder, memory } = JSON.parse(process.argv[2]!) as { folder: string; memory: number };
const running = new Map<number, AbortController>();

const send = (message: ChildMessage): Promise<void> => new Promise((sent) => process.send!(message, () => sent()));
const opening = SqlDatabases.open(folder, memory, (log) => void send({ log }));

/** Whether the process can still reserve memory: what a heavy statement freed may stay with the allocator. */
function hasMemory(): boolean {
  try {
    return new ArrayBuffer(SPARE).byteLength === SPARE;
  } catch {
    return false;
  }
}

async function answer(id: number, query: SqlQuery): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const engine = await opening;
    await send({ id, answer: await engine.run(query, controller.signal, () => void send({ id, started: true })) });
  } catch (error) {
    const failure = error instanceof DataError ? error : DAMAGED;
    const { code, message, detail, retry_after_seconds } = failure;
    const last = failure === DAMAGED || !hasMemory();
    await send({ id, error: { code, message, detail, retry_after_seconds }, last });
    if (last) process.exit(1);
  } finally {
    running.delete(id);
  }
}

process.on('disconnect', () => process.exit());
process.on('message', (message: ParentMessage) => {
  if ('cancel' in message) running.get(message.cancel)?.abort();
  else if ('prepare' in message) void opening.then((engine) => engine.prepare('public', message.prepare));
  else void answer(message.id, message.query);
});
