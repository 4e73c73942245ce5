// /llms.txt: the rules, the order of calls and every address of the register, for agents (llmstxt.org).
import { blocks, escapeText } from '../formats/markdown.ts';
import type { Document, View } from './document.ts';

const ORDER = [
  'List the datasets: GET {base}/v1/datasets',
  'Look at one: GET {base}/v1/{dataset}/status, then its guide GET {base}/v1/{dataset}/llms.txt',
  'Find valid filter values: GET {base}/v1/{dataset}/facets?by=<attribute>',
  'Search with only the fields you need: GET {base}/v1/{dataset}/entities.md?q=<words>&fields=<a,b>',
  'Fetch full records at once: GET {base}/v1/{dataset}/entities/batch?ids=<id,id>',
  'Cite with the `attribution` of each record; it ends with the record’s page.',
];

const RULES = [
  'Add `.md` to any `/v1` path, or send `Accept: text/markdown`, for Markdown: same content and price, far fewer tokens.',
  'Every value carries `source_url`, `observed_at` and `confidence`; `freshness` is its age in hours. A missing value is absent.',
  'Errors are JSON: branch on `error`; `is_retriable` says whether to try again, after `retry_after_seconds`.',
  'Without a key: free operations, and 20 records a day and dataset of search results with their public values.',
  'With a key: `Authorization: Bearer <API_KEY>`. `POST {base}/v1/keys` with `{"email": "…"}` makes one, with 0.50 EUR of credit; `GET {base}/v1/keys/me` shows what is left.',
  'A paid answer says its price in `X-Charge-EUR`; `X-Max-Price-EUR` in a request caps it. Errors cost nothing. Send an `Idempotency-Key` to repeat a request safely.',
  'Limits: 300 free and 60 paid calls a minute; `RateLimit` headers say what is left. An unchanged record (`ETag`) is free.',
  'Each record has a free page with its public values: {base}/datasets/{dataset}/{slug}.md',
];

/** Text of the document: the same that the nightly build writes to `llms.txt`. */
export function llmsText({ base_url, releases, operations }: View): string {
  const filled = (line: string) => line.replaceAll('{base}', base_url);
  const addresses = operations
    .filter(({ route }) => route.path.startsWith('/v1/'))
    .map(({ route, name, description, access }) => {
      const method = route.method === 'GET' ? '' : `${route.method} `;
      const path = method + route.path.replace(/:ds/, '{dataset}').replace(/:(\w+)/g, '{$1}');
      return `- \`${path}\` ${name}${access === 'free' ? ' (free)' : ''}: ${description}`;
    });
  return blocks(
    '# Dataset register',
    '> Datasets for AI agents, analysts and crawlers: typed records, each value with its source, the time it was last seen there, and a confidence.',
    ORDER.map((step, index) => `${index + 1}. ${filled(step)}`).join('\n'),
    '## Datasets',
    releases
      .map(
        ({ pack, manifest }) =>
          `- [${escapeText(pack.title)}](${base_url}/v1/${pack.id}/llms.txt): \`${pack.id}\`, ${manifest.records} records. ${escapeText(pack.description)}`,
      )
      .join('\n'),
    '## Rules',
    RULES.map((rule) => `- ${filled(rule)}`).join('\n'),
    '## Addresses',
    addresses.join('\n'),
    '## Optional',
    [
      ...releases.map(
        ({ pack }) =>
          `- [All public values of ${escapeText(pack.title)}](${base_url}/v1/${pack.id}/llms-full.txt): long`,
      ),
      `- [Liveness](${base_url}/healthz)`,
    ].join('\n'),
  );
}

export const llms: Document = {
  path: '/llms.txt',
  title: 'Guide for agents',
  rel: 'service-doc',
  content_type: 'text/plain; charset=utf-8',
  text: llmsText,
};
