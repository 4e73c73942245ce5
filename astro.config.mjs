// Astro's configuration for the pages for people: static, from the data of build/static/prerender.ts, without
// network.
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
  // Highlighting would add inline styles, which the policy of the pages forbids.
  markdown: { syntaxHighlight: false },
  image: { service: passthroughImageService() },
  devToolbar: { enabled: false },
  // Scripts are files: the policy of the pages allows no inline code.
  vite: { cacheDir: SITE_CACHE, build: { assetsInlineLimit: 0 } },
});
