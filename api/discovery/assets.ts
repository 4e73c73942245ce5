// The style and the script of the pages, at addresses that hold their content.
import { type Asset, SCRIPT_ASSET, STYLE_ASSET } from '../pages/assets.ts';
import type { Document } from './document.ts';

const shared = ({ path, content_type, text }: Asset, title: string): Document => ({
  path,
  title,
  part: true,
  content_type,
  headers: () => ({ 'Cache-Control': 'public, max-age=31536000, immutable' }),
  text: () => text,
});

export const assets: readonly Document[] = [
  shared(STYLE_ASSET, 'Style of the pages'),
  shared(SCRIPT_ASSET, 'Script of the pages'),
];
