// Addresses of the authorization server, under the base URL.
export const PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  keys: '/oauth/jwks.json',
  /** Where a person signs in and decides. */
  approve: '/oauth/approve',
  /** Where a person sees what they allowed, and ends it. */
  connections: '/oauth/connections',
} as const;
