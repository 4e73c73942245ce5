// The scripts of the operators' pages, htmx and our own, served under paths with the hash of their content.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const folder = dirname(createRequire(import.meta.url).resolve('htmx.org/package.json'));
const HTMX = readFileSync(join(folder, 'dist/htmx.min.js'));

const OWN = readFileSync(new URL('../../../site/ops.js', import.meta.url));

const pathOf = (name: string, content: Buffer): string =>
  `/ops/assets/${name}-${createHash('sha256').update(content).digest('hex').slice(0, 16)}.js`;

const SCRIPTS = new Map([HTMX, OWN].map((content, at) => [pathOf(at === 0 ? 'htmx' : 'ops', content), content]));

/** Paths of the scripts. */
export const OPS_SCRIPTS: readonly string[] = [...SCRIPTS.keys()];

/** The script at one of these paths. */
export function scriptFile(path: string): Response {
  return new Response(new Uint8Array(SCRIPTS.get(path) ?? Buffer.alloc(0)), {
    headers: {
      'Content-Type': 'text/javascript; charset=utf-8',
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
    },
  });
}
