// The compiled pages as a program: renders every page into the folder SITE_OUT, with the data of the standard input.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createApp } from 'astro/app/entrypoint';
import { data, href } from './data.ts';

interface Page {
  /** Values of the parameter in its address; absent: the page has one address. */
  paths?: () => string[];
}

const { SITE_OUT: out = '' } = process.env;
const app = createApp();
const pages = import.meta.glob<Page>('./pages/**/*.{astro,ts}', { eager: true });

for (const [file, { paths }] of Object.entries(pages)) {
  const endpoint = file.endsWith('.ts');
  const address = file.replace(/^\.\/pages|\.(astro|ts)$/g, '').replace(/\/index$/, '/');
  const addresses = paths?.().map((value) => address.replace(/\[\w+\]/, value)) ?? [address];
  for (const path of addresses) await write(path, endpoint);
}

/** Writes one page, as hosts of static files find it at its address. */
async function write(path: string, endpoint: boolean): Promise<void> {
  const missing = path === '/404';
  const response = await app.render(new Request(new URL(href(path), data.base_url)));
  if (response.status !== (missing ? 404 : 200)) throw new Error(`${path}: status ${response.status}`);
  const file = join(out, endpoint ? path : missing ? '404.html' : `${path}/index.html`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, Buffer.from(await response.arrayBuffer()));
}
