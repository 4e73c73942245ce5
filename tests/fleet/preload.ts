// Loaded into API processes of the fleet test before their own modules. A file, FLEET_FAULT, has the faults of the
// machine as JSON: {"clock": <milliseconds that it is off>, "io": "EIO"}, or "EROFS" for writes only. Deliveries of changes may go to the receiver
// FLEET_RECEIVER on this machine, which the register refuses otherwise.
import fs from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';

const file = process.env['FLEET_FAULT'] ?? '';
const receiver = process.env['FLEET_RECEIVER'] ?? '';
const dataDir = process.env['DATA_DIR'] ?? '';
const readFaults = fs.readFileSync;
let faults: { clock?: number; io?: string } = {};

function look(): void {
  try {
    faults = JSON.parse(String(readFaults(file))) as typeof faults;
  } catch {
    faults = {};
  }
}
look();
setInterval(look, 100).unref();

const RealDate = Date;
class ShiftedDate extends RealDate {
  constructor(...parts: unknown[]) {
    if (parts.length === 0) super(ShiftedDate.now());
    else super(...(parts as [number]));
  }
  static override now(): number {
    return RealDate.now() + (faults.clock ?? 0);
  }
}
globalThis.Date = ShiftedDate as DateConstructor;

type Anything = (...parts: unknown[]) => unknown;

/** An error of the device for paths below DATA_DIR, while the fault is set. */
function failureOf(name: string, [path, flags]: unknown[]): Error | null {
  if (faults.io === undefined || !String(path).startsWith(dataDir)) return null;
  const isWrite = name === 'open' ? /[wa+]/.test(String(flags)) : WRITES.has(name);
  if (faults.io === 'EROFS' && !isWrite) return null;
  return Object.assign(new Error(`${faults.io}: i/o error, '${path}'`), { code: faults.io, errno: -5 });
}

const WRITES: ReadonlySet<string> = new Set(['writeFile', 'rename', 'mkdir']);
const NAMES = ['open', 'readFile', 'writeFile', 'rename', 'mkdir', 'readdir', 'stat'] as const;
for (const name of NAMES) {
  const promised = fs.promises as unknown as Record<string, Anything>;
  const real = promised[name]!;
  promised[name] = async (...parts) => {
    const failure = failureOf(name, parts);
    if (failure) throw failure;
    return real(...parts);
  };
  const plain = fs as unknown as Record<string, Anything>;
  const callback = plain[name]!;
  plain[name] = (...parts) => {
    const failure = failureOf(name, parts);
    if (failure) return (parts.at(-1) as Anything)(failure);
    return callback(...parts);
  };
  const sync = plain[`${name}Sync`]!;
  plain[`${name}Sync`] = (...parts) => {
    const failure = failureOf(name, parts);
    if (failure) throw failure;
    return sync(...parts);
  };
}
syncBuiltinESMExports();

const CLOCK = 'now: () => new Date(),';
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/api/process.ts')) return loaded;
    const source = String(loaded.source);
    if (!source.includes(CLOCK)) throw new Error(`${url} has no "${CLOCK}"`);
    return { ...loaded, source: source.replace(CLOCK, `${CLOCK} open_hosts: new Set(['${receiver}']),`) };
  },
});
