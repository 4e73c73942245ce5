// Name and version of the service for machines, the same in every document and protocol.

export const IDENTITY = {
  /** Name of the MCP server and of the A2A agent's provider. */
  name: 'dataset-register',
  title: 'Dataset register',
  /** Version of the interface (specification section 9), as a semantic version. */
  version: '1.0.0',
  description:
    'Typed records with a source, a time and a confidence for every value. Public fields are free; complete records are paid.',
} as const;

/** Versions of the Model Context Protocol that the server speaks, newest first. */
export const MCP_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];

/** The host of a base URL, without its port. */
export function hostOf(base_url: string): string {
  return new URL(base_url).hostname.replace(/^\[|\]$/g, '');
}

/** `example.register/dataset-register`: the host reversed, as registries of MCP servers name them. */
export function qualifiedName(base_url: string): string {
  const host = hostOf(base_url);
  const numbers = /^[\d.]+$|:/.test(host);
  return `${numbers ? host.replace(/[^\w.-]/g, '-') : host.split('.').reverse().join('.')}/${IDENTITY.name}`;
}
