// The machines of the fleet: three API processes, the third in a network of its own with a small disk of its own where
// the system allows it, and two machines for the night.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FaultyProxy, faultyProxy } from '../support/faulty-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { Program } from './programs.ts';
import type { Part, Services } from './services.ts';

export const CHECKOUT = join(import.meta.dirname, '../..');
/** Size of the disk of the third machine. */
const DISK = '96m';

/** An API process and its machine. */
export interface Node extends Part {
  program: Program;
  /** `host:port`. */
  address: string;
  dataDir: string;
  logFile: string;
  /** The folder of the version that the next start runs. */
  version: string;
  /** Sets the faults of the preloaded module: none, a clock that is off (milliseconds), or an error of the disk. */
  fault(faults: { clock?: number; io?: string }): void;
  /** Cuts the machine off from the services and the balancer, and connects it again. */
  cut(): Promise<void>;
  join(): Promise<void>;
  /** Whether DATA_DIR is a file system of its own. */
  hasDisk: boolean;
  remove(): Promise<void>;
}

export interface NodeOptions {
  name: string;
  root: string;
  services: Services;
  env: Record<string, string>;
  port: number;
  /** The network that the machine is in; null: that of this machine. */
  network: Network | null;
  /** Whether it gets a small disk of its own, where that is permitted. */
  disk: boolean;
}

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });

/** Whether a command succeeds. */
function succeeds(command: string, ...args: string[]): boolean {
  try {
    run(command, ...args);
    return true;
  } catch {
    return false;
  }
}

/** A network namespace, connected by one link. */
export interface Network {
  name: string;
  /** Addresses of this side and of the machine. */
  host: string;
  machine: string;
  cut(): void;
  join(): void;
  remove(): void;
}

/** Makes a network namespace; null where that is not permitted. */
export function openNetwork(): Network | null {
  const id = process.pid % 60_000;
  const name = `fleet-${id}`;
  const [ours, theirs] = [`fl${id}a`, `fl${id}b`];
  const net = `10.77.${id % 250}`;
  const [host, machine] = [`${net}.1`, `${net}.2`];
  if (!succeeds('ip', 'netns', 'add', name)) return null;
  const remove = () => {
    succeeds('ip', 'link', 'delete', ours);
    succeeds('ip', 'netns', 'delete', name);
  };
  const inside = (...args: string[]) => run('ip', '-n', name, ...args);
  try {
    run('ip', 'link', 'add', ours, 'type', 'veth', 'peer', 'name', theirs, 'netns', name);
    run('ip', 'addr', 'add', `${host}/30`, 'dev', ours);
    run('ip', 'link', 'set', ours, 'up');
    inside('addr', 'add', `${machine}/30`, 'dev', theirs);
    inside('link', 'set', theirs, 'up');
    inside('link', 'set', 'lo', 'up');
  } catch {
    remove();
    return null;
  }
  // The link goes down at the machine: packets of this side are lost, and none finds another way.
  const set = (state: 'up' | 'down') => void inside('link', 'set', theirs, state);
  return { name, host, machine, cut: () => set('down'), join: () => set('up'), remove };
}

/** Starts an API process on a machine of its own. */
export async function openNode(options: NodeOptions): Promise<Node> {
  const { name, root, services, env, port, network, disk } = options;
  const folder = join(root, name.replaceAll(' ', '-'));
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { recursive: true });
  const hasDisk = disk && succeeds('mount', '-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', dataDir);
  const links = await services.link(network?.host);
  const host = network?.machine ?? '127.0.0.1';
  const faultFile = join(folder, 'fault.json');
  const forwarders: FaultyProxy[] = [];
  const settings: Record<string, string> = { ...env };
  if (network !== null)
    for (const [setting, value] of Object.entries(env)) {
      const target = /^\w+:\/\/127\.0\.0\.1:(\d+)/.exec(value);
      if (target === null || setting === 'BASE_URL' || setting === 'FLEET_RECEIVER') continue;
      const forwarder = await faultyProxy(Number(target[1]), { address: network.host });
      forwarders.push(forwarder);
      settings[setting] = value.replace(`127.0.0.1:${target[1]}`, `${network.host}:${forwarder.port}`);
    }
  let version = CHECKOUT;
  const logFile = join(folder, 'log');
  const program = new Program({
    name,
    launch() {
      const args = ['--max-semi-space-size=8', '--import', join(import.meta.dirname, 'preload.ts')];
      const command = [process.execPath, ...args, join(version, 'api/server.ts')];
      const [first = '', ...others] = network === null ? command : ['ip', 'netns', 'exec', network.name, ...command];
      return {
        command: first,
        args: others,
        env: {
          PATH: process.env['PATH'] ?? '',
          NODE_COMPILE_CACHE: join(root, 'compiled'),
          ...settings,
          ...links.env,
          HOST: host,
          PORT: String(port),
          DATA_DIR: dataDir,
          DIST_DIR: join(folder, 'dist'),
          FLEET_FAULT: faultFile,
        },
      };
    },
    isReady: () =>
      fetch(`http://${host}:${port}/healthz`, { signal: AbortSignal.timeout(2_000) }).then(
        ({ ok }) => ok,
        () => false,
      ),
    logFile,
  });
  const cutAll = async (fault: 'hangs' | 'none') => {
    for (const proxy of links.proxies) await proxy.set(fault);
  };
  return {
    name,
    program,
    address: `${host}:${port}`,
    dataDir,
    logFile,
    hasDisk,
    get version() {
      return version;
    },
    set version(from) {
      version = from;
    },
    kill: () => program.kill(),
    start: () => program.start(),
    hang: async () => program.stop(),
    resume: async () => program.resume(),
    fault: (faults) => writeFileSync(faultFile, JSON.stringify(faults)),
    cut: async () => (network === null ? cutAll('hangs') : network.cut()),
    join: async () => (network === null ? cutAll('none') : network.join()),
    async remove() {
      await program.kill();
      for (const proxy of [...links.proxies, ...forwarders]) await proxy.close();
      if (hasDisk) succeeds('umount', '-l', dataDir);
    },
  };
}

/** A machine of the night: each run is a process. */
export interface Runner {
  name: string;
  /** Starts a night; the program ends by itself. */
  night(): Program;
  logFile: string;
}

export async function openRunner(
  name: string,
  { root, services, env }: { root: string; services: Services; env: Record<string, string> },
): Promise<Runner> {
  const folder = join(root, name.replaceAll(' ', '-'));
  mkdirSync(folder, { recursive: true });
  const links = await services.link();
  const logFile = join(folder, 'log');
  writeFileSync(logFile, '');
  return {
    name,
    logFile,
    night() {
      const program = new Program({
        name,
        launch: () => ({
          command: process.execPath,
          args: [join(CHECKOUT, 'build/nightly.ts')],
          env: {
            PATH: process.env['PATH'] ?? '',
            NODE_COMPILE_CACHE: join(root, 'compiled'),
            ...links.env,
            PACK_DIRS: env['PACK_DIRS'] ?? '',
            BASE_URL: env['BASE_URL'] ?? '',
            DATA_DIR: join(folder, 'data'),
            DIST_DIR: join(folder, 'dist'),
          },
        }),
        isReady: async () => true,
        logFile,
      });
      program.launch();
      return program;
    },
  };
}

/** Ports of processes before they start. */
export const freePorts = async (count: number): Promise<number[]> => {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
};

/** Changes one byte, or removes the second half, of every object that is larger than `least` bytes; returns the repair. */
export function damageObjects(files: readonly string[], how: 'byte' | 'half', least = 4_000): () => void {
  const before = new Map<string, Buffer>();
  for (const file of files) {
    // A night may have removed it.
    if (!existsSync(file)) continue;
    const content = readFileSync(file);
    if (content.length < least) continue;
    before.set(file, content);
    const damaged = Buffer.from(content.subarray(0, how === 'half' ? content.length / 2 : content.length));
    if (how === 'byte') damaged[100] = (damaged[100] ?? 0) ^ 1;
    writeFileSync(file, damaged);
  }
  return () => {
    for (const [file, content] of before) writeFileSync(file, content);
  };
}

/** Removes a folder that other processes may have written to until now. */
export const removeFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
