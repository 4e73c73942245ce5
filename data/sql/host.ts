// Program of the two child processes of a machine that have DuckDB: one answers the questions of the register and makes
// tables, one runs statements of callers.
import { logToParent, parentChannel } from '../model/child-calls.ts';
import { DataError } from '../model/errors.ts';
import { type Offered, offerCalls } from '../model/thread-calls.ts';
import type { SqlRun } from './engine.ts';
import type { MakeTables } from './make-tables.ts';

/** First argument of the program, as JSON. `memory`: SQL_MEMORY in bytes. */
export type HostSettings = { serves: 'questions' } | { serves: 'statements'; memory: number };

/** Bytes that the process must be able to reserve to go on. */
const SPARE = 64 * 2 ** 20;

/** Whether the process can still reserve memory: what a heavy statement freed may stay with the allocator. */
function hasMemory(): boolean {
  try {
    return new ArrayBuffer(SPARE).byteLength === SPARE;
  } catch {
    return false;
  }
}

/** The functions of the process of questions. Each process loads only the modules that it needs. */
async function questionFunctions(): Promise<Offered> {
  const [{ hostedEngines }, { DEFAULT_LIMITS }, { makeTables }] = await Promise.all([
    import('../duckdb/engines.ts'),
    import('../plan/limits.ts'),
    import('./make-tables.ts'),
  ]);
  return { ...hostedEngines(DEFAULT_LIMITS), makeTables: (args) => makeTables(...(args as Parameters<MakeTables>)) };
}

/** The functions of the process of statements, which ends when DuckDB may be damaged or no memory is left. */
async function statementFunctions(memory: number): Promise<Offered> {
  const { SqlStatements } = await import('./engine.ts');
  const opening = SqlStatements.open(memory);
  return {
    ready: () => opening.then(() => {}),
    run: async ([run], signal) => {
      const begin = performance.now();
      const ms = () => performance.now() - begin;
      try {
        const stuck = Promise.withResolvers<{ ended: true }>();
        const statements = await opening;
        const answer = statements.run(run as SqlRun, signal, () => stuck.resolve({ ended: true }));
        return { ms: ms(), ...(await Promise.race([answer, stuck.promise])) };
      } catch (error) {
        if (!(error instanceof DataError) || !hasMemory()) {
          logToParent(
            `SQL: the process ends: ${error instanceof DataError ? 'no memory is left' : 'DuckDB may be damaged'}`,
          );
          process.exit(1);
        }
        const { code, message, detail } = error;
        return { ms: ms(), error: { code, message, detail } };
      }
    },
  };
}

const settings = JSON.parse(process.argv[2]!) as HostSettings;
offerCalls(
  parentChannel(),
  await (settings.serves === 'statements' ? statementFunctions(settings.memory) : questionFunctions()),
);
