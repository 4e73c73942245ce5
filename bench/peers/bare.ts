// The upper bound: Hono with constant answers. BODIES is a folder of files to serve by name.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { compress } from 'hono/compress';

const folder = process.env['BODIES'] ?? '';
const app = new Hono();
app.get('/', (c) => c.text('yes'));
app.use('/search-gzip', compress());
for (const name of readdirSync(folder)) {
  const body = readFileSync(join(folder, name));
  app.get(`/${name}`, (c) => c.body(body, 200, { 'content-type': 'application/json; charset=utf-8' }));
}
serve({ fetch: app.fetch, port: Number(process.env['PORT']), hostname: '127.0.0.1' });
