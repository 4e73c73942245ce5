// The load balancer in front of the API processes: nginx, or a small proxy where it is not installed. It sends calls to
// processes whose /readyz answers 200, and to all of them while none does.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { Program } from './programs.ts';

/** Milliseconds between two looks at /readyz, and until one must be answered. */
const LOOK = { interval: 500, patience: 1_000 };
/** Seconds for an answer of a process; then the next one gets the call, unless it changes something. */
const PATIENCE = 25;

export interface Balancer {
  origin: string;
  program: Program;
  /** `nginx` with its version, or the program that is used without it. */
  described: string;
  /** `host:port` of the processes that get calls now. */
  members(): string[];
  /** Changes of the members, as times of `performance.now()`. */
  changes: { at: number; member: string; joined: boolean }[];
  end(): Promise<void>;
}

function nginxVersion(): string | null {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' });
    return execFileSync('sh', ['-c', 'nginx -v 2>&1'], { encoding: 'utf8' })
      .replace(/^.*nginx\//, '')
      .trim();
  } catch {
    return null;
  }
}

const upstreams = (members: readonly string[]) =>
  `upstream api {\n${members.map((member) => `  server ${member} fail_timeout=2s;`).join('\n')}\n}\n`;

function nginxConfig(folder: string, port: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/temp;`,
  );
  return `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 2048; }
http {
  access_log off; ${temporary.join(' ')}
  include ${folder}/upstream.conf;
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location / {
      proxy_pass http://api;
      proxy_http_version 1.1;
      proxy_buffering off;
      proxy_buffer_size 16k;
      proxy_buffers 8 16k;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_connect_timeout 1s;
      proxy_read_timeout ${PATIENCE}s;
      proxy_next_upstream error timeout;
      add_header X-Upstream $upstream_addr always;
    }
  }
}
`;
}

/** Starts it for processes at `addresses` (`host:port`); `portable`: not nginx, even where it is installed. */
export async function startBalancer(folder: string, addresses: () => readonly string[], portable = false) {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const version = portable ? null : nginxVersion();
  const file = join(folder, 'upstream.conf');
  writeFileSync(file, upstreams(addresses()));
  writeFileSync(join(folder, 'nginx.conf'), nginxConfig(folder, port));
  const answers = () =>
    fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(1_000) }).then(
      () => true,
      () => false,
    );
  const program = new Program({
    name: 'the balancer',
    launch: () =>
      version === null
        ? { command: process.execPath, args: [join(import.meta.dirname, 'round-robin.ts'), file, String(port)] }
        : { command: 'nginx', args: ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')] },
    isReady: answers,
    logFile: join(folder, 'balancer.log'),
    family: true,
  });
  await program.start();

  let members: string[] = [...addresses()];
  const changes: Balancer['changes'] = [];
  let active = true;
  const isReady = (address: string) =>
    fetch(`http://${address}/readyz`, { signal: AbortSignal.timeout(LOOK.patience) }).then(
      ({ ok }) => ok,
      () => false,
    );
  const looking = (async () => {
    let before = new Set(members);
    while (active) {
      const all = addresses();
      const ready = await Promise.all(all.map(isReady));
      const now = new Set(all.filter((_, index) => ready[index]));
      for (const member of new Set([...before, ...now]))
        if (before.has(member) !== now.has(member))
          changes.push({ at: performance.now(), member, joined: now.has(member) });
      before = now;
      const next = now.size === 0 ? [...all] : [...now];
      if (next.join() !== members.join()) {
        members = next;
        writeFileSync(file, upstreams(members));
        if (program.isRunning) program.reload();
      }
      await sleep(LOOK.interval);
    }
  })();
  const balancer: Balancer = {
    origin,
    program,
    described: version === null ? 'a round-robin proxy (nginx is not installed)' : `nginx ${version}`,
    members: () => members,
    changes,
    async end() {
      active = false;
      await looking;
      await program.kill();
    },
  };
  return balancer;
}
