// /llms.txt: the entry point for agents: datasets, the cheapest call for each question, rules (llmstxt.org).

import type { Pack } from '../../packs/define/model.ts';
import { WELCOME } from '../contract/errors.ts';
import { callsTable, stepsText } from '../render/call-table.ts';
import { blocks, escapeText } from '../render/markdown.ts';
import { sqlJoins } from '../render/sql-guide.ts';
import type { Document, View } from './document.ts';

const ORDER = [
  'List the datasets: below, or GET {base}/v1/datasets. GET {base}/v1/search?q=<name or code> searches all of them, and GET {base}/v1/fetch?id=<dataset>/<slug> is a public page; both are free',
  'Choose one and read its guide: fields, filters and prices by their exact names. GET {base}/v1/{dataset}/status has its freshness, GET {base}/v1/{dataset}/llms.txt is the guide',
  'Find valid filter values: GET {base}/v1/{dataset}/facets?by=<field>',
  'Search with only the fields you need: GET {base}/v1/{dataset}/entities.md?q=<words>&sort=relevance&fields=<a,b>. `q` finds records that contain these words, and `sort=relevance` lists those with this name first; filter by a field whose value you have',
  'Fetch full records at once: GET {base}/v1/{dataset}/entities/batch?ids=<slug,slug>',
  'Cite with the `attribution` of each answer; for a record it ends with the URL of its page.',
];

const RULES = [
  'Add `.md` to any `/v1` path, or send `Accept: text/markdown`, for Markdown: same content and price, a quarter of the tokens. JSON adds source, time, confidence and age of every value.',
  'Without a key: everything marked free, and 20 records a day and dataset of search results with their public fields.',
  `With a key: \`Authorization: Bearer <API_KEY>\`. \`POST {base}/v1/keys\` with \`{"email": "…"}\` creates one with ${WELCOME} of credit; \`GET {base}/v1/keys/me\` returns the balance. Other ways: {base}/auth.md`,
  'A paid answer has its price in `X-Charge-EUR`; `X-Max-Price-EUR` in a request caps it. Errors and 304 responses (`If-None-Match`) are free. `Idempotency-Key` charges a repeated request once.',
  '`POST {base}/v1/quote` with `{"operation", "dataset", "arguments"}` names the price of a call, free. `POST {base}/v1/keys/prepaid` with `{"amount_eur": 0.8}` and a secret `Idempotency-Key` sells a key for one x402 payment, where this service offers x402.',
  'Errors are JSON: branch on `error`; `message` describes the problem, `alternative_action` the correction; `is_retriable` is true if the request may succeed after `retry_after_seconds`.',
  'Limits: 300 free and 60 paid calls a minute; the `RateLimit` headers have the remaining number.',
];

/** The questions and their calls, for one dataset or any. */
export function callsText({ operations, releases }: View, dataset: string): string {
  const pack = releases.find((release) => release.pack.id === dataset)?.pack ?? null;
  return blocks(stepsText(), callsTable(operations, pack)).trim();
}

/** SQL over all datasets: the call, and how their tables are joined. */
function sqlText(packs: readonly Pack[]): string {
  const joins = sqlJoins(packs);
  return `\`POST /v1/sql\` with \`{"sql": "SELECT …"}\` (one statement in the SQL of DuckDB, free for public columns). Tables are the ids of the datasets with \`_\` for \`-\`, with \`_history\`, \`_provenance\` and \`_as_of(time)\`; the guide of a dataset lists the columns.${joins === '' ? '' : ` Joins ${joins}.`}`;
}

/** Text of the document, the same that the nightly build writes to `llms.txt`. */
export function llmsText(view: View): string {
  const { base_url, releases } = view;
  const filled = (line: string) => line.replaceAll('{base}', base_url);
  return blocks(
    '# Dataset register',
    `> Datasets for AI agents, analysts and crawlers: typed records, each value with its source, the time of the last reading and a confidence. (Paths below begin with ${base_url} )`,
    ORDER.map((step, index) => `${index + 1}. ${filled(step)}`).join('\n'),
    '## Datasets',
    releases
      .map(
        ({ pack, manifest }) =>
          `- [${escapeText(pack.title)}](${base_url}/v1/${pack.id}/llms.txt): \`${pack.id}\`, ${manifest.records} records. ${escapeText(pack.description)} About: ${pack.keywords.map(escapeText).join(', ')}.`,
      )
      .join('\n'),
    '## The cheapest call for each question',
    'The guide of a dataset has this table with its own prices.',
    callsText(view, ''),
    '## SQL',
    sqlText(releases.map(({ pack }) => pack)),
    '## Rules',
    RULES.map((rule) => `- ${filled(rule)}`).join('\n'),
    '## Other ways in',
    [
      `- [OpenAPI 3.1](${base_url}/openapi.json): every operation, parameter and answer`,
      `- [MCP server](${base_url}/mcp/server-card): the same operations as tools, at ${base_url}/mcp`,
      `- [A2A agent](${base_url}/.well-known/agent-card.json): the same as skills`,
      `- [OGC API Features](${base_url}/ogc): records with a public point, for GIS clients; free`,
      `- [Skills for agents](${base_url}/.well-known/agent-skills/index.json)`,
      `- [How to authenticate](${base_url}/auth.md)`,
      `- [API reference for people](${base_url}/docs)`,
    ].join('\n'),
    '## Optional',
    [
      ...releases.map(
        ({ pack }) =>
          `- [All public values of ${escapeText(pack.title)}](${base_url}/v1/${pack.id}/llms-full.txt): long`,
      ),
      `- [Catalogue as links](${base_url}/v1/catalog), [in DCAT 3](${base_url}/catalog.jsonld), [as Turtle](${base_url}/catalog.ttl)`,
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
