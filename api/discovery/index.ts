// The discovery documents, for the API to serve, the build to write, and each other to name.
import type { Document } from './document.ts';
import { llms } from './llms.ts';
import { openapiDocument } from './openapi.ts';
import { robots } from './robots.ts';
import { x402Resources, x402Terms } from './x402.ts';

export type { Content, Document, View } from './document.ts';

export const DOCUMENTS: readonly Document[] = [
  llms,
  robots,
  openapiDocument(() => DOCUMENTS),
  x402Terms,
  x402Resources,
];
