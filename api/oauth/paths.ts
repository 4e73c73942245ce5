// Addresses of the authorization server, under the base URL.
export const PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  keys: '/oauth/jwks.json',
  /** Where a person signs in and decides. */
  approve: '/oauth/approve',
} as const;

/** Section of the account page where a person sees the connected clients and disconnects them. */
export const APPS = '/account#apps';
