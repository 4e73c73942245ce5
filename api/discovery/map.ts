// `/` as JSON: the map of the register, for clients that ask the root (specification section 1).
import type { View } from './document.ts';

/** Relations of the root, as Link header and as the `links` of the map. */
export function rootLinks(base_url: string): { rel: string; href: string; type: string }[] {
  return [
    { rel: 'service-doc', href: `${base_url}/llms.txt`, type: 'text/plain' },
    { rel: 'describedby', href: `${base_url}/v1/datasets`, type: 'application/json' },
    { rel: 'alternate', href: `${base_url}/llms.txt`, type: 'text/markdown' },
    { rel: 'status', href: `${base_url}/healthz`, type: 'application/json' },
  ];
}

/** The map: where to begin, every operation's address, every dataset. */
export function rootMap({ base_url, releases, operations }: View): Record<string, unknown> {
  return {
    name: 'Dataset register',
    description: 'Typed records with provenance for every value, for AI agents, analysts and crawlers.',
    guide: `${base_url}/llms.txt`,
    datasets: releases.map(({ pack, manifest }) => ({
      id: pack.id,
      title: pack.title,
      records: manifest.records,
      guide: `${base_url}/v1/${pack.id}/llms.txt`,
      page: `${base_url}/datasets/${pack.id}`,
    })),
    operations: operations.map(({ name, title, route, access }) => ({
      name,
      title,
      method: route.method,
      url: base_url + route.path.replace(':ds', '{dataset}').replace(/:(\w+)/g, '{$1}'),
      access,
    })),
    health: `${base_url}/healthz`,
    attribution: `Dataset register. ${base_url}/`,
    license: 'Each dataset has a licence of its own, named with it.',
  };
}
