// `/` as JSON: the map of the register, for clients that request the root (specification section 1).
import { addressesOf, type View } from './document.ts';
import { IDENTITY } from './identity.ts';
import { DOCUMENTS } from './index.ts';

export interface RootLink {
  rel: string;
  href: string;
  type: string;
  title: string;
}

/** Links of the root, for its Link header and the map's `links`: documents with a relation, and more. */
export function rootLinks(base_url: string): RootLink[] {
  const documents = DOCUMENTS.flatMap(({ rel, path, content_type, title }) =>
    rel === undefined ? [] : [{ rel, href: base_url + path, type: content_type.split(';')[0] ?? '', title }],
  );
  return [
    ...documents,
    { rel: 'service-doc', href: `${base_url}/docs`, type: 'text/html', title: 'API reference' },
    { rel: 'describedby', href: `${base_url}/v1/datasets`, type: 'application/json', title: 'Datasets' },
    { rel: 'alternate', href: `${base_url}/llms.txt`, type: 'text/markdown', title: 'This page for agents' },
    { rel: 'status', href: `${base_url}/healthz`, type: 'application/json', title: 'Liveness' },
  ];
}

/** Documents with a route of their own: they are signed, or match the rest of a path. */
const APART = [
  { title: 'Authorization server (RFC 8414)', path: '/.well-known/oauth-authorization-server' },
  { title: 'Protected resource (RFC 9728)', path: '/.well-known/oauth-protected-resource' },
  { title: 'Key of our crawler (Web Bot Auth)', path: '/.well-known/http-message-signatures-directory' },
  { title: 'Keys of signed offers and receipts of x402 (did:web)', path: '/.well-known/did.json' },
];

/** The map: entry points, every operation's address, every dataset. */
export function rootMap(view: View): Record<string, unknown> {
  const { base_url, releases, operations } = view;
  return {
    name: IDENTITY.title,
    description: IDENTITY.description,
    guide: `${base_url}/llms.txt`,
    datasets: releases.map(({ pack, manifest }) => ({
      id: pack.id,
      title: pack.title,
      records: manifest.records,
      guide: `${base_url}/v1/${pack.id}/llms.txt`,
      page: `${base_url}/datasets/${pack.id}`,
    })),
    operations: operations.map(({ name, title, rest, charge: { access } }) => ({
      name,
      title,
      method: rest.method,
      url: base_url + rest.path.replace(':ds', '{dataset}').replace(/:(\w+)/g, '{$1}'),
      access,
    })),
    links: rootLinks(base_url),
    documents: [
      ...DOCUMENTS.filter(({ part }) => !part).flatMap((document) =>
        addressesOf(document, view).map(({ path }) => ({ title: document.title, url: base_url + path })),
      ),
      ...APART.map(({ title, path }) => ({ title, url: base_url + path })),
    ],
    health: `${base_url}/healthz`,
    attribution: `Dataset register. ${base_url}/`,
    license: 'Each dataset has its own licence; see its entry.',
  };
}
