// Calls of the public API. Free answers are cached while the tab is open.

export interface Item {
  id: string;
  slug: string;
  name: string;
  url: string;
  attributes: Record<string, unknown>;
  provenance: Record<string, { source_url: string; observed_at: string; confidence: number }>;
}

/** An error answer of the API. */
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

export interface ResultPage {
  items: Item[];
  next_cursor: string | null;
  attribution: string;
  /** EUR charged, and the balance; null without a key. */
  charged: string | null;
  balance: string | null;
}

export interface Facet {
  values: { value: unknown; count: number }[];
  matched: number;
  missing: number;
  /** Number of values that too few records share; absent: none. */
  withheld?: number;
}

/** The API is at the base URL of the build, which may differ from the address of the page. */
function unreachable(url: string): string {
  const [page, api] = [location.origin, new URL(url, location.href).origin];
  if (page === api) return 'The API does not respond. Check the network connection.';
  return `The API at ${api} does not respond. This page is at ${page}.`;
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

/** Paid pages, cached while this page is open. */
const paid = new Map<string, ResultPage>();

/** A cached page of a search, which costs nothing again; null when it is not cached. */
export function cachedPage(url: string, key: string | null): ResultPage | null {
  return key === null ? remembered(url) : (paid.get(`${key} ${url}`) ?? null);
}

/**
 * Fetches a page of a search. Without a key each URL is fetched once per tab, because records count against
 * the daily quota.
 */
export async function searchRecords(url: string, key: string | null): Promise<ResultPage> {
  const known = key === null ? remembered(url) : null;
  if (known !== null) return known;
  const answer = await get(url, key);
  const { items, next_cursor, attribution } = (await answer.json()) as ResultPage;
  const page = { items, next_cursor, attribution, charged: null, balance: null };
  if (key === null) remember(url, page);
  else paid.set(`${key} ${url}`, page);
  return { ...page, charged: answer.headers.get('x-charge-eur'), balance: answer.headers.get('x-balance-eur') };
}

export async function facet(url: string, key: string | null, signal: AbortSignal): Promise<Facet> {
  return (await get(url, key, signal)).json() as Promise<Facet>;
}

/** The showcase records of every group, free. */
export async function examples(api: string): Promise<Item[]> {
  return ((await (await get(`${api}/examples`, null)).json()) as { items: Item[] }).items;
}

function remembered(url: string): ResultPage | null {
  try {
    return JSON.parse(sessionStorage.getItem(`explore ${url}`) ?? 'null') as ResultPage | null;
  } catch {
    return null;
  }
}

function remember(url: string, page: ResultPage): void {
  try {
    sessionStorage.setItem(`explore ${url}`, JSON.stringify(page));
  } catch {
    // The storage is full or disabled: the next call fetches again.
  }
}
