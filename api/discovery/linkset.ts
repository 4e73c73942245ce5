// /v1/catalog (RFC 9264) and /.well-known/api-catalog (RFC 9727): the register as typed links for machines.
import { datasetUrl } from '../../packs/define/links.ts';
import { hasFeatures } from '../render/data-files.ts';
import { blocks, escapeText, link } from '../render/markdown.ts';
import { dcat } from './dcat.ts';
import type { Document, View } from './document.ts';

interface Target {
  href: string;
  type?: string;
  title?: string;
}

/** One context of a linkset: its anchor, and its links by relation. */
type Context = { anchor: string } & Record<string, string | Target[]>;

const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.1';

/** Each dataset with its guide, schema, status, page and licence. */
function datasetLinks({ base_url, releases }: View): Context[] {
  return releases.map(({ pack }) => {
    const at = `${base_url}/v1/${pack.id}`;
    return {
      anchor: datasetUrl(base_url, pack.id),
      collection: [{ href: `${base_url}/v1/datasets`, type: 'application/json' }],
      'service-doc': [{ href: `${at}/llms.txt`, type: 'text/plain', title: `Guide of ${pack.title}` }],
      describedby: [
        { href: `${at}/schema`, type: 'application/json', title: 'Schema and filters' },
        { href: `${base_url}/files/${pack.id}/croissant.jsonld`, type: 'application/ld+json', title: 'Croissant' },
      ],
      status: [{ href: `${at}/status`, type: 'application/json' }],
      item: [
        { href: `${at}/entities`, type: 'application/json', title: 'Records' },
        { href: `${at}/samples`, type: 'application/json', title: 'Example response (fictional values)' },
        { href: `${at}/examples`, type: 'application/json', title: 'Real examples' },
        { href: `${at}/changelog`, type: 'application/json', title: 'Changes' },
        { href: `${at}/llms-full.txt`, type: 'text/plain', title: 'Public values of every record' },
        ...(hasFeatures(pack)
          ? [{ href: `${base_url}/ogc/collections/${pack.id}`, type: 'application/json', title: 'Features for GIS' }]
          : []),
      ],
      license: [{ href: pack.license.url, title: pack.license.name }],
    };
  });
}

/** Documents about the interface as a whole. */
function interfaceLinks({ base_url }: View): Context {
  return {
    anchor: `${base_url}/v1/catalog`,
    'service-desc': [{ href: `${base_url}/openapi.json`, type: OPENAPI_TYPE, title: 'OpenAPI 3.1' }],
    'service-doc': [
      { href: `${base_url}/llms.txt`, type: 'text/plain', title: 'Guide for agents' },
      { href: `${base_url}/docs`, type: 'text/html', title: 'API reference' },
    ],
    'service-meta': [{ href: `${base_url}/auth.md`, type: 'text/markdown', title: 'How to authenticate' }],
    status: [{ href: `${base_url}/healthz`, type: 'application/json' }],
  };
}

/** The interfaces, each with the document that describes its authentication. */
function protocols({ base_url }: View): Context[] {
  const resource = (path: string) => ({
    href: `${base_url}/.well-known/oauth-protected-resource${path}`,
    type: 'application/json',
  });
  return [
    {
      anchor: `${base_url}/v1`,
      'service-desc': [{ href: `${base_url}/openapi.json`, type: OPENAPI_TYPE }],
      'service-doc': [{ href: `${base_url}/llms.txt`, type: 'text/plain' }],
      'service-meta': [
        resource('/v1'),
        { href: `${base_url}/.well-known/oauth-authorization-server/v1`, type: 'application/json' },
      ],
    },
    {
      anchor: `${base_url}/mcp`,
      'service-desc': [{ href: `${base_url}/mcp/server-card`, type: 'application/mcp-server-card+json' }],
      'service-doc': [{ href: `${base_url}/llms.txt`, type: 'text/plain' }],
      'service-meta': [resource('/mcp'), resource('/mcp/account')],
    },
    {
      anchor: `${base_url}/a2a/v1`,
      'service-desc': [{ href: `${base_url}/.well-known/agent-card.json`, type: 'application/json' }],
      'service-doc': [{ href: `${base_url}/llms.txt`, type: 'text/plain' }],
    },
    {
      anchor: `${base_url}/ogc`,
      'service-desc': [{ href: `${base_url}/ogc/api`, type: 'application/vnd.oai.openapi+json;version=3.0' }],
      'service-doc': [{ href: `${base_url}/guides/gis/`, type: 'text/html' }],
    },
  ];
}

const linkset = (contexts: Context[]) => JSON.stringify({ linkset: contexts });

function markdown(view: View): string {
  const lines = datasetLinks(view).map((context, at) => {
    const pack = view.releases[at]!.pack;
    const links = Object.values(context).flatMap((targets) => (typeof targets === 'string' ? [] : targets));
    const items = links.map(
      ({ href, title }) => `- ${link(title ?? href.slice(href.lastIndexOf('/') + 1), href).text}`,
    );
    return blocks(`## ${escapeText(pack.title)}`, items.join('\n'));
  });
  return blocks('# Catalogue of links', ...lines);
}

export const catalog: Document = {
  path: '/v1/catalog',
  title: 'Datasets as a set of links (RFC 9264)',
  rel: 'item',
  content_type: 'application/linkset+json',
  text: (view) => {
    const root: Context = {
      ...interfaceLinks(view),
      describedby: dcat.map(({ path, content_type: type, title }) => ({ href: view.base_url + path, type, title })),
      item: view.releases.map(({ pack }) => ({ href: datasetUrl(view.base_url, pack.id), title: pack.title })),
    };
    return linkset([root, ...datasetLinks(view)]);
  },
  markdown,
  alternates: dcat,
};

const PROFILE = 'https://www.rfc-editor.org/info/rfc9727';

export const apiCatalog: Document = {
  path: '/.well-known/api-catalog',
  title: 'Every interface of this host (RFC 9727)',
  rel: 'api-catalog',
  content_type: `application/linkset+json; profile="${PROFILE}"`,
  headers: ({ base_url }) => ({ Link: `<${base_url}/.well-known/api-catalog>; rel="api-catalog"` }),
  text: (view) => {
    const { base_url } = view;
    const root: Context = {
      anchor: `${base_url}/.well-known/api-catalog`,
      item: [
        { href: `${base_url}/v1/catalog`, type: 'application/linkset+json', title: 'REST API' },
        { href: `${base_url}/mcp`, title: 'MCP server' },
        { href: `${base_url}/a2a/v1`, title: 'A2A agent' },
        { href: `${base_url}/ogc`, type: 'application/json', title: 'OGC API Features' },
      ],
      profile: [{ href: PROFILE }],
    };
    return linkset([root, interfaceLinks(view), ...protocols(view)]);
  },
};
