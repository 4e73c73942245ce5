// Questions to the public API, as any client asks them. Free answers to the same question are kept while the tab is open.

export interface Item {
  id: string;
  slug: string;
  name: string;
  url: string;
  attributes: Record<string, unknown>;
  provenance: Record<string, { source_url: string; observed_at: string; confidence: number }>;
}

/** What the API says of a question that it does not answer. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly retry: number | null;

  constructor(status: number, code: string, message: string, retry: number | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.retry = retry;
  }
}

export interface Page {
  items: Item[];
  next_cursor: string | null;
  attribution: string;
  /** EUR charged and left; null without a key. */
  charged: string | null;
  balance: string | null;
}

export interface Facet {
  values: { value: unknown; count: number }[];
  matched: number;
  missing: number;
  /** Values that are too rare to be told; absent: none. */
  withheld?: number;
}

/** Pages lead to the address that they were made for, which may not be the one that they are read at. */
function unreachable(url: string): string {
  const [page, api] = [location.origin, new URL(url, location.href).origin];
  if (page === api) return 'The API cannot be reached from here. Is this computer online?';
  return `This page is at ${page}, and the API that it was made for, ${api}, cannot be reached from here.`;
}

async function get(url: string, key: string | null, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (key !== null) headers['Authorization'] = `Bearer ${key}`;
  let answer: Response;
  try {
    answer = await fetch(url, { headers, credentials: 'omit', ...(signal ? { signal } : {}) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal(0, 'unreachable', unreachable(url));
  }
  if (answer.ok) return answer;
  const body = (await answer.json().catch(() => ({}))) as {
    error?: string;
    message?: string;
    retry_after_seconds?: number;
  };
  throw new Refusal(
    answer.status,
    body.error ?? 'unknown',
    body.message ?? `The API answered ${answer.status}.`,
    body.retry_after_seconds ?? null,
  );
}

/** Pages that were paid for, as long as this page is open. */
const paid = new Map<string, Page>();

/** A page of a search that was shown before, which costs nothing again; null: it has to be asked for. */
export function kept(url: string, key: string | null): Page | null {
  return key === null ? remembered(url) : (paid.get(`${key} ${url}`) ?? null);
}

/** A page of a search. Without a key the same question is asked once a tab, since each record is one of the day's. */
export async function search(url: string, key: string | null): Promise<Page> {
  const known = key === null ? remembered(url) : null;
  if (known !== null) return known;
  const answer = await get(url, key);
  const { items, next_cursor, attribution } = (await answer.json()) as Page;
  const page = { items, next_cursor, attribution, charged: null, balance: null };
  if (key === null) remember(url, page);
  else paid.set(`${key} ${url}`, page);
  return { ...page, charged: answer.headers.get('x-charge-eur'), balance: answer.headers.get('x-balance-eur') };
}

export async function facet(url: string, key: string | null, signal: AbortSignal): Promise<Facet> {
  return (await get(url, key, signal)).json() as Promise<Facet>;
}

/** Real records of every group, free. */
export async function examples(api: string): Promise<Item[]> {
  return ((await (await get(`${api}/examples`, null)).json()) as { items: Item[] }).items;
}

function remembered(url: string): Page | null {
  try {
    return JSON.parse(sessionStorage.getItem(`explore ${url}`) ?? 'null') as Page | null;
  } catch {
    return null;
  }
}

function remember(url: string, page: Page): void {
  try {
    sessionStorage.setItem(`explore ${url}`, JSON.stringify(page));
  } catch {
    // Storage is full or closed: the question is asked again next time.
  }
}
