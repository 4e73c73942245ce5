// The list of discovery documents, for the API, the nightly build, and the documents that link to others.
import {
  type Asset,
  COMPARE_ASSET,
  FAVICON,
  KEYS_ASSET,
  RECORD_ASSET,
  SCRIPT_ASSET,
  STYLE_ASSET,
} from '../pages/assets.ts';
import { auth } from './auth.ts';
import { dcat } from './dcat.ts';
import type { Document } from './document.ts';
import { feeds } from './feed.ts';
import { datasetsJsonld } from './jsonld.ts';
import { apiCatalog, catalog } from './linkset.ts';
import { llms } from './llms.ts';
import { aiCatalog, serverCards } from './mcp-card.ts';
import { openapiDocument } from './openapi.ts';
import { robots } from './robots.ts';
import { sitemap, sitemapParts } from './sitemap.ts';
import { skillFiles, skillsIndex } from './skills.ts';
import { x402Resources, x402Terms } from './x402.ts';

const shared = (asset: Asset, title: string): Document => ({
  path: asset.path,
  title,
  part: true,
  content_type: asset.content_type,
  headers: () => ({ 'Cache-Control': 'public, max-age=31536000, immutable' }),
  text: () => asset.text,
});

const favicon: Document = {
  path: '/favicon.ico',
  title: 'Icon',
  rel: 'icon',
  content_type: 'image/x-icon',
  text: () => FAVICON,
};

const assets: readonly Document[] = [
  shared(STYLE_ASSET, 'Style of the pages'),
  shared(SCRIPT_ASSET, 'Script of the pages'),
  shared(KEYS_ASSET, 'Script of the page that creates keys'),
  shared(COMPARE_ASSET, 'Script of comparisons'),
  shared(RECORD_ASSET, 'Script of records'),
];

export type { Document, View } from './document.ts';

export const DOCUMENTS: readonly Document[] = [
  llms,
  openapiDocument(() => DOCUMENTS),
  apiCatalog,
  catalog,
  auth,
  ...serverCards,
  aiCatalog,
  skillsIndex,
  skillFiles,
  datasetsJsonld,
  ...dcat,
  x402Terms,
  x402Resources,
  sitemap,
  sitemapParts,
  robots,
  favicon,
  feeds,
  ...assets,
];
