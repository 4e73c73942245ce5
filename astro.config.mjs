// Astro's configuration for the pages for people: compiles them to a program (site/render.ts) that renders them with
// the data of build/static/prerender.ts, without network.
import { defineConfig, passthroughImageService } from 'astro/config';

const { SITE_COMPILED, SITE_CACHE, SITE_PATH, SITE_GUIDES } = process.env;
if (!SITE_COMPILED || !SITE_CACHE || !SITE_PATH || !SITE_GUIDES) {
  throw new Error('astro runs inside the nightly build: use `npm run nightly`');
}

/** The program instead of a server: pages with new data need no new compilation. */
const renderer = {
  name: 'render',
  hooks: {
    'astro:config:done': ({ setAdapter }) =>
      setAdapter({
        name: 'render',
        entrypointResolution: 'auto',
        serverEntrypoint: new URL('./site/render.ts', import.meta.url),
        supportedAstroFeatures: { serverOutput: 'stable' },
      }),
  },
};

export default defineConfig({
  output: 'server',
  adapter: renderer,
  srcDir: './site',
  publicDir: './site/public',
  outDir: SITE_COMPILED,
  cacheDir: SITE_CACHE,
  base: SITE_PATH,
  build: { assets: 'assets', inlineStylesheets: 'never' },
  // Highlighting would add inline styles, which the policy of the pages forbids.
  markdown: { syntaxHighlight: false },
  image: { service: passthroughImageService() },
  devToolbar: { enabled: false },
  // Scripts are files: the policy of the pages allows no inline code.
  vite: { cacheDir: SITE_CACHE, build: { assetsInlineLimit: 0 }, resolve: { alias: { guides: SITE_GUIDES } } },
});
