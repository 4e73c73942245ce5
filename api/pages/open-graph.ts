// Open Graph and Twitter tags of indexable pages.
import { type Html, html } from './html.ts';

/** Pixels of every Open Graph image: the ratio that previews crop least. */
export const IMAGE_SIZE = { width: 1200, height: 630 } as const;

/** Paths of the images below the base URL. */
export const IMAGE_PATHS = {
  register: '/og/index.png',
  dataset: (id: string) => `/og/${id}.png`,
};

export interface SharedPage {
  title: string;
  description: string;
  /** null: one file at many addresses. */
  url: string | null;
  /** Address of the image, and its text for screen readers. */
  image: { url: string; alt: string };
}

/** The elements of the head. */
export function openGraphHtml({ title, description, url, image }: SharedPage): Html {
  return html`<meta property="og:type" content="website">
<meta property="og:site_name" content="Dataset Register">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">${url !== null && html`\n<meta property="og:url" content="${url}">`}
<meta property="og:image" content="${image.url}">
<meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="${IMAGE_SIZE.width}">
<meta property="og:image:height" content="${IMAGE_SIZE.height}">
<meta property="og:image:alt" content="${image.alt}">
<meta name="twitter:card" content="summary_large_image">`;
}
