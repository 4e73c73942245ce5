// The discovery documents, for the API to serve, the build to write, and each other to name.
import { assets } from './assets.ts';
import { auth } from './auth.ts';
import { docs } from './docs.ts';
import type { Document } from './document.ts';
import { favicon } from './favicon.ts';
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

export type { Content, Document, View } from './document.ts';

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
  x402Terms,
  x402Resources,
  sitemap,
  sitemapParts,
  robots,
  favicon,
  feeds,
  ...docs,
  ...assets,
];
