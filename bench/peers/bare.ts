// The upper bound: Hono with constant answers. BODIES is a folder of files to serve by name; `<name>.headers` holds
// their response headers as JSON, if they have others than a content type.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { compress } from 'hono/compress';

const folder = process.env['BODIES'] ?? '';
const app = new Hono();
app.get('/', (c) => c.text('yes'));
app.use('/search-gzip', compress());
for (const name of readdirSync(folder).filter((file) => !file.endsWith('.headers'))) {
  const body = readFileSync(join(folder, name));
  const file = join(folder, `${name}.headers`);
  const headers = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>)
    : { 'content-type': 'application/json; charset=utf-8' };
  app.on(['GET', 'POST'], `/${name}`, (c) => c.body(body, 200, headers));
}
serve({ fetch: app.fetch, port: Number(process.env['PORT']), hostname: '127.0.0.1' });
