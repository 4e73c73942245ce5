// A query in the fragment of an address: it stays in the browser, which sends no fragment to any server.

/** The query that a fragment holds; null where it holds none. */
export function readQuery(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, '')).get('q');
}

/** The fragment that holds a query. */
export function writeQuery(sql: string): string {
  return `#${new URLSearchParams({ q: sql })}`;
}
