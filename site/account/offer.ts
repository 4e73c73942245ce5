// The offer of paid values on a page: a button that shows the price, and the call that the session of a signed-in
// visitor pays (contract section 9, "Keys"). Nothing is spent without a click on it.
import { printEuro } from '../../api/render/print.ts';
import { byId } from '../lib/dom.ts';

/** A call as `POST /account/run` takes it. */
export interface PageCall {
  operation: string;
  dataset: string;
  arguments: Record<string, string>;
  /** The price that the button shows; 0: only the stored answer of an earlier call. */
  max_price_eur: number;
}

interface Session {
  signed_in: boolean;
  balance_eur?: number;
  csrf?: string;
}

/** What became of a call. */
interface Outcome {
  /** The body of the answer. */
  answer: string;
  /** What it cost, and the balance. */
  text: string;
}

/** Puts a paid answer into the page; `text`: what it cost, and the balance; `args`: those of its call. */
type Show = (answer: string, text: string, args: PageCall['arguments']) => void;

export const isSignedIn = (): boolean => document.documentElement.classList.contains('signed-in');

/** The session; without one, the page shows the way to sign in. */
async function openSession(account: string): Promise<Session> {
  const response = await fetch(`${account}/session`, { headers: { Accept: 'application/json' } });
  const session = (response.ok ? await response.json() : { signed_in: false }) as Session;
  document.documentElement.classList.toggle('signed-in', session.signed_in);
  return session;
}

/** Sends a call; `account` is the path of the account. Throws without a session, and if no answer comes. */
export async function sendCall(
  account: string,
  call: Omit<PageCall, 'arguments'> & { arguments: Record<string, unknown> },
  signal: AbortSignal | null = null,
): Promise<Response> {
  const unreachable = () => {
    throw new Error("Couldn't load the values. Try again.");
  };
  const session = await openSession(account).catch(unreachable);
  if (!session.signed_in) throw new Error('Your session has ended. Sign in again.');
  const request = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': session.csrf ?? '' },
    body: JSON.stringify(call),
    signal,
  };
  return fetch(`${account}/run`, request).catch(unreachable);
}

/** Answers by call, while this page is open. */
const answers = new Map<string, Outcome>();

/** Runs a call. Throws an error whose message is for the visitor. */
async function run(account: string, call: PageCall): Promise<Outcome> {
  const key = JSON.stringify({ ...call, max_price_eur: 0 });
  const earlier = answers.get(key);
  if (earlier !== undefined) return earlier;
  const response = await sendCall(account, call);
  if (!response.ok) {
    const { error, message } = (await response.json().catch(() => ({}))) as { error?: string; message?: string };
    if (error === 'insufficient_credits') throw new Error('Your balance is too low. Top up your account.');
    throw new Error(message ?? `Couldn't load the values (${response.status}). Try again.`);
  }
  const answer = await response.text();
  const [charge, balance] = ['x-charge-eur', 'x-balance-eur'].map((name) => response.headers.get(name));
  const isRepeat = response.headers.has('idempotency-replayed');
  const paid = isRepeat || charge === null ? 'Loaded again, free.' : `Charged ${printEuro(Number(charge))}.`;
  const text = balance == null ? paid : `${paid} Balance: ${printEuro(Number(balance))}.`;
  answers.set(key, { answer, text });
  return { answer, text };
}

/** Whether an earlier call has something of another: some of its records, or else the same arguments. */
function overlaps(earlier: PageCall['arguments'], wanted: PageCall['arguments']): boolean {
  const [earlierIds, ids] = [earlier, wanted].map((args) => (args['entity_id'] ?? args['ids'])?.split(','));
  if (ids === undefined) return JSON.stringify(earlier) === JSON.stringify(wanted);
  return earlierIds?.some((id) => ids.includes(id)) ?? false;
}

/** The calls of this tab for an operation and a dataset, whose answers the service has stored. */
class PaidCalls {
  readonly #name: string;
  constructor({ operation, dataset }: PageCall) {
    this.#name = `paid ${operation} ${dataset}`;
  }
  get all(): PageCall['arguments'][] {
    return JSON.parse(sessionStorage.getItem(this.#name) ?? '[]') as PageCall['arguments'][];
  }
  keep(args: PageCall['arguments'], isPaid: boolean): void {
    const others = this.all.filter((paid) => JSON.stringify(paid) !== JSON.stringify(args));
    sessionStorage.setItem(this.#name, JSON.stringify(isPaid ? [...others, args] : others));
  }
}

/**
 * Connects the offer of the page (api/pages/offer.ts). What this tab paid before is loaded at once. `ids`: the records
 * whose values are still locked, where it changes while the offer is shown.
 */
export function connectOffer(show: Show, ids?: () => string[]): void {
  const box = byId('load');
  const account = box.dataset['account'] ?? '';
  const offered = JSON.parse(box.dataset['call'] ?? '') as PageCall;
  const wanted = (): PageCall =>
    ids === undefined ? offered : { ...offered, arguments: { ...offered.arguments, ids: ids().join() } };
  const status = byId('load-status');
  const button = byId<HTMLButtonElement>('load-button');
  button.addEventListener('click', async () => {
    button.disabled = true;
    status.textContent = 'Loading …';
    const call = wanted();
    try {
      const { answer, text } = await run(account, call);
      new PaidCalls(call).keep(call.arguments, true);
      status.textContent = text;
      show(answer, text, call.arguments);
    } catch (error) {
      status.textContent = (error as Error).message;
    }
    button.disabled = false;
  });
  if (isSignedIn()) void repeat(account, wanted(), show);
}

/** Shows the balance, and the stored answers of calls that this tab paid. */
async function repeat(account: string, wanted: PageCall, show: Show): Promise<void> {
  const { balance_eur } = await openSession(account).catch((): Session => ({ signed_in: true }));
  const balance = document.getElementById('load-balance');
  if (balance_eur !== undefined && balance !== null) balance.textContent = `Balance: ${printEuro(balance_eur)}`;
  const paidCalls = new PaidCalls(wanted);
  for (const args of paidCalls.all.filter((earlier) => overlaps(earlier, wanted.arguments))) {
    const stored = run(account, { ...wanted, arguments: args, max_price_eur: 0 });
    await stored.then(
      ({ answer, text }) => show(answer, text, args),
      // A day has passed, or there is a new release: the offer stays.
      () => paidCalls.keep(args, false),
    );
  }
}
