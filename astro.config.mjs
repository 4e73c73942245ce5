// How Astro builds the pages for people: static, from the data that build/prerender.ts hands over, with no network.
import { defineConfig, passthroughImageService } from 'astro/config';

const { SITE_OUT, SITE_CACHE, SITE_BASE_URL } = process.env;
if (!SITE_OUT || !SITE_CACHE || !SITE_BASE_URL) {
  throw new Error('astro runs inside the nightly build: use `npm run nightly`');
}

export default defineConfig({
  output: 'static',
  srcDir: './site',
  publicDir: './site/public',
  outDir: SITE_OUT,
  cacheDir: SITE_CACHE,
  site: SITE_BASE_URL,
  base: new URL(SITE_BASE_URL).pathname,
  build: { format: 'directory', assets: 'assets', inlineStylesheets: 'never' },
  image: { service: passthroughImageService() },
  devToolbar: { enabled: false },
  vite: { cacheDir: SITE_CACHE },
});
