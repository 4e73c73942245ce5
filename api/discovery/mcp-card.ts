// The MCP server card (SEP-2127), at its recommended path and where scanners look, and the AI catalogue that
// links to it.
import type { Document, View } from './document.ts';
import { hostOf, IDENTITY, MCP_VERSIONS, qualifiedName } from './identity.ts';

/** The card: identity, address and versions. The server itself lists its tools. */
function card({ base_url }: View): string {
  const url = `${base_url}/mcp`;
  const key = {
    name: 'Authorization',
    description: 'Bearer with an API key or an OAuth access token; free tools need none',
    isRequired: false,
    isSecret: true,
  };
  const remote = { type: 'streamable-http', supportedProtocolVersions: MCP_VERSIONS };
  return JSON.stringify({
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: qualifiedName(base_url),
    title: IDENTITY.title,
    description: 'Datasets with a source, a time and a confidence for every value.',
    version: IDENTITY.version,
    websiteUrl: `${base_url}/`,
    remotes: [
      { ...remote, url, headers: [key] },
      { ...remote, url: `${url}/account`, headers: [{ ...key, isRequired: true }] },
    ],
    // The earlier format, which some scanners still read.
    serverInfo: { name: IDENTITY.name, title: IDENTITY.title, version: IDENTITY.version },
    transport: { type: 'streamable-http', endpoint: url },
    capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
  });
}

const TYPE = 'application/mcp-server-card+json';
const CARD = { title: 'MCP server card', content_type: TYPE, text: card } as const;

export const serverCards: readonly Document[] = [
  { path: '/.well-known/mcp/server-card.json', ...CARD },
  { path: '/mcp/server-card', ...CARD },
];

export const aiCatalog: Document = {
  path: '/.well-known/ai-catalog.json',
  title: 'What agents can use here (AI Catalog)',
  rel: 'ai-catalog',
  content_type: 'application/ai-catalog+json',
  text: ({ base_url, releases }) => {
    const urn = (kind: string, name: string) => `urn:air:${hostOf(base_url)}:${kind}:${name}`;
    const skills = skillNames(releases.map(({ pack }) => pack.id)).map((name) => ({
      identifier: urn('skill', name),
      type: 'application/agent-skills+md',
      url: `${base_url}/.well-known/agent-skills/${name}/SKILL.md`,
    }));
    return JSON.stringify({
      specVersion: '1.0',
      host: { displayName: IDENTITY.title, identifier: hostOf(base_url), documentationUrl: `${base_url}/llms.txt` },
      entries: [
        { identifier: urn('mcp', IDENTITY.name), type: TYPE, url: `${base_url}/mcp/server-card` },
        {
          identifier: urn('a2a', IDENTITY.name),
          type: 'application/a2a-agent-card+json',
          url: `${base_url}/.well-known/agent-card.json`,
        },
        ...skills,
      ],
    });
  },
};

/** Names of the skills: one for the register, one per dataset. */
export function skillNames(datasets: readonly string[]): string[] {
  return [IDENTITY.name, ...datasets.map((id) => `${IDENTITY.name}-${id}`.slice(0, 64))];
}
