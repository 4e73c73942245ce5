// /robots.txt: crawlers may read pages and guides, but not search results, which cost quota (RFC 9309).
import type { Document } from './document.ts';

/**
 * AI crawlers that look for a group with their name. A named group replaces `*`, so the rules are repeated.
 */
const NAMED = [
  'GPTBot',
  'OAI-SearchBot',
  'ChatGPT-User',
  'ClaudeBot',
  'Claude-User',
  'Claude-SearchBot',
  'PerplexityBot',
  'Google-Extended',
  'CCBot',
];

/** Permitted uses of the pages (Content Signals): search and AI answers, no training. */
export const CONTENT_SIGNAL = 'search=yes, ai-input=yes, ai-train=no';

/** Content Signals together with AIPREF: search and answers may use the pages, training may not. */
const RULES = [
  `Content-Signal: ${CONTENT_SIGNAL}`,
  'Content-Usage: search=y, train-ai=n',
  'Allow: /v1/*/llms.txt',
  'Allow: /v1/*/llms-full.txt',
  'Disallow: /v1/*/entities',
  'Disallow: /ogc/collections/*/items',
  'Disallow: /*?*api_key=',
  'Disallow: /owners/',
  'Disallow: /ops',
  'Allow: /',
];

export const robots: Document = {
  path: '/robots.txt',
  title: 'Rules for crawlers',
  content_type: 'text/plain; charset=utf-8',
  text: ({ base_url }) =>
    [['*'], NAMED]
      .map((agents) => [...agents.map((agent) => `User-agent: ${agent}`), ...RULES].join('\n'))
      .concat(
        `Sitemap: ${base_url}/sitemap.xml`,
        `# Guide for agents: ${base_url}/llms.txt`,
        `# Keys by which our own crawler signs: ${base_url}/.well-known/http-message-signatures-directory`,
      )
      .join('\n\n') + '\n',
};
