// Memory of processes, from /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** Bytes of a process and its children that no file holds (RssAnon, RssShmem). */
export function privateMemory(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kilobytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+)/gm)].reduce(
      (sum, [, size]) => sum + Number(size),
      0,
    );
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
    );
    return children.reduce((sum, child) => sum + privateMemory(Number(child)), kilobytes * 1024);
  } catch {
    return 0; // It has ended.
  }
}
