// The discovery documents that are plain texts, for the API to serve and the build to write.
import type { Document } from './document.ts';
import { llms } from './llms.ts';
import { robots } from './robots.ts';

export type { Document, View } from './document.ts';

export const DOCUMENTS: readonly Document[] = [llms, robots];
