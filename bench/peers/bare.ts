// The upper bound: Hono answering a constant of the same size. BODY names the file that holds it.
import { readFileSync } from 'node:fs';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const body = readFileSync(process.env['BODY'] ?? '');
const app = new Hono();
app.get('*', (c) => c.body(body, 200, { 'content-type': 'application/json; charset=utf-8' }));
serve({ fetch: app.fetch, port: Number(process.env['PORT']), hostname: '127.0.0.1' });
