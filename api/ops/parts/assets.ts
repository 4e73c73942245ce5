// htmx, the script of the operators' pages, served under a path with the hash of its content.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const folder = dirname(createRequire(import.meta.url).resolve('htmx.org/package.json'));
const HTMX = readFileSync(join(folder, 'dist/htmx.min.js'));

/** Path of the script. */
export const HTMX_PATH = `/ops/assets/htmx-${createHash('sha256').update(HTMX).digest('hex').slice(0, 16)}.js`;

/** The script. */
export function htmxFile(): Response {
  return new Response(new Uint8Array(HTMX), {
    headers: {
      'Content-Type': 'text/javascript; charset=utf-8',
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
    },
  });
}
