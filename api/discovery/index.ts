// The list of discovery documents, for the API, the nightly build, and the documents that link to others.
import { ASSETS, FAVICON } from '../pages/assets.ts';
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

const assets = ASSETS.map(
  ({ path, content_type, text }): Document => ({
    path,
    title: 'Style or script of pages',
    part: true,
    content_type,
    headers: () => ({ 'Cache-Control': 'public, max-age=31536000, immutable' }),
    text: () => text,
  }),
);

const favicon: Document = {
  path: '/favicon.ico',
  title: 'Icon',
  rel: 'icon',
  content_type: 'image/x-icon',
  text: () => FAVICON,
};

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
