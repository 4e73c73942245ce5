// A query in the fragment of the URL, which browsers do not send to servers.

/** The query in a fragment; null when there is none. */
export function readQuery(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, '')).get('q');
}

/** The fragment for a query. */
export function writeQuery(sql: string): string {
  return `#${new URLSearchParams({ q: sql })}`;
}
