// /.well-known/oauth-protected-resource: what every 401 points to (RFC 9728).
import { TOKEN_RESOURCES } from '../../packs/links.ts';

/** Metadata of one resource by its path, or null for a path that is none: an allow-list, nothing else is echoed. */
export function protectedResource(base_url: string, path: string): Record<string, unknown> | null {
  const wanted = path === '/' ? '' : path;
  if (!TOKEN_RESOURCES.some((known) => known === wanted)) return null;
  return {
    resource: `${base_url}${wanted}`,
    authorization_servers: [base_url],
    scopes_supported: ['read'],
    bearer_methods_supported: ['header'],
    resource_name: 'Dataset register',
    resource_documentation: `${base_url}/auth.md`,
  };
}
