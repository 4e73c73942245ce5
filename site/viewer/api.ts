// Calls of the API with the visitor's key, for what is not in the public file. Each is made by a click on a
// button that shows its price.
import { WELCOME_CREDIT } from '../../data/model/subscriptions.ts';
import type { Value } from '../../packs/define/model.ts';

export interface Item {
  slug: string;
  name: string;
  attributes: Record<string, Value>;
}

export interface ResultPage {
  items: Item[];
  next_cursor: string | null;
  /** EUR charged, and the balance. */
  charged: string | null;
  balance: string | null;
}

/** What to do about an error, by its code. */
const HINTS: Record<string, string> = {
  payment_required: `Every new key has €${(WELCOME_CREDIT / 1_000_000).toFixed(2)}.`,
  insufficient_credits: 'The balance of this key is too low: top it up.',
  invalid_key: 'Key not recognised. Check that it is complete.',
  rate_limited: 'Wait a moment.',
};

/** Paid pages, kept while this page is open: the same page costs nothing again. */
const loaded = new Map<string, ResultPage>();

/** Fetches a page of a search. Throws an error whose message is for the visitor. */
export async function searchRecords(url: string, key: string): Promise<ResultPage> {
  const known = loaded.get(`${key} ${url}`);
  if (known !== undefined) return { ...known, charged: null };
  const headers = { Accept: 'application/json', Authorization: `Bearer ${key}` };
  const response = await fetch(url, { headers, credentials: 'omit' }).catch(() => {
    throw new Error(`The API at ${new URL(url, location.href).origin} does not respond.`);
  });
  const body = (await response.json().catch(() => ({}))) as Partial<ResultPage> & { error?: string; message?: string };
  if (!response.ok)
    throw new Error(
      `${body.message ?? `The API answered ${response.status}.`} ${HINTS[body.error ?? ''] ?? ''}`.trim(),
    );
  const page = {
    items: body.items ?? [],
    next_cursor: body.next_cursor ?? null,
    charged: response.headers.get('x-charge-eur'),
    balance: response.headers.get('x-balance-eur'),
  };
  loaded.set(`${key} ${url}`, page);
  return page;
}

/** `Charged €0.008, balance €0.49.`; empty when nothing was charged. */
export const chargeText = ({ charged, balance }: ResultPage): string =>
  charged ? `Charged €${charged}, balance €${balance}.` : '';
