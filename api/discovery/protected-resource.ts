// /.well-known/oauth-protected-resource: what every 401 points to (RFC 9728).

/** Resources that have metadata, by path; the root stands for the whole service. An allow-list: nothing else is echoed. */
const RESOURCES = ['', '/v1'] as const;

/** Metadata of one resource, or null for a path that is none. An authorization server is named once there is one. */
export function protectedResource(base_url: string, path: string): Record<string, unknown> | null {
  const wanted = path === '/' ? '' : path;
  if (!RESOURCES.some((known) => known === wanted)) return null;
  return {
    resource: `${base_url}${wanted}`,
    bearer_methods_supported: ['header'],
    scopes_supported: ['read'],
    resource_name: 'Dataset register',
    resource_documentation: `${base_url}/llms.txt`,
  };
}
