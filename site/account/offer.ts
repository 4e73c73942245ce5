// The offer of paid values on a page: a button that shows the price, and the call that the session of a signed-in
// visitor pays (contract section 9, "Keys"). Nothing is spent without a click on it.
import { printEuro } from '../../api/render/print.ts';

/** A call as `POST /account/run` takes it. */
interface PageCall {
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
  answer: Document;
  /** What it cost, and the balance. */
  text: string;
}

const byId = (id: string): HTMLElement => document.getElementById(id)!;

/** The session; without one, the page shows the way to sign in. */
async function openSession(account: string): Promise<Session> {
  const response = await fetch(`${account}/session`, { headers: { Accept: 'application/json' } });
  const session = (response.ok ? await response.json() : { signed_in: false }) as Session;
  document.documentElement.classList.toggle('signed-in', session.signed_in);
  return session;
}

/** Runs a call. Throws an error whose message is for the visitor. */
async function run(account: string, call: PageCall): Promise<Outcome> {
  const unreachable = () => {
    throw new Error("Couldn't load the values. Try again.");
  };
  const session = await openSession(account).catch(unreachable);
  if (!session.signed_in) throw new Error('Your session has ended. Sign in again.');
  const response = await fetch(`${account}/run`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': session.csrf ?? '' },
    body: JSON.stringify({ ...call, arguments: { ...call.arguments, format: 'html' } }),
  }).catch(unreachable);
  if (!response.ok) {
    const { error, message } = (await response.json().catch(() => ({}))) as { error?: string; message?: string };
    if (error === 'insufficient_credits') throw new Error('Your balance is too low. Top up your account.');
    throw new Error(message ?? `Couldn't load the values (${response.status}). Try again.`);
  }
  const answer = new DOMParser().parseFromString(await response.text(), 'text/html');
  const [charge, balance] = ['x-charge-eur', 'x-balance-eur'].map((name) => response.headers.get(name));
  const isRepeat = response.headers.has('idempotency-replayed');
  const paid = isRepeat ? 'Loaded again, free.' : `Charged ${printEuro(Number(charge))}.`;
  return { answer, text: balance == null ? paid : `${paid} Balance: ${printEuro(Number(balance))}.` };
}

const idsOf = (args: PageCall['arguments']): string[] => (args['entity_id'] ?? args['ids'] ?? '').split(',');

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
 * Connects the offer of the page (api/pages/offer.ts). `ids`: the records whose values are still locked; `show` puts
 * the page of a paid answer into this one, and the text says what it cost. What this tab paid before is loaded at once.
 */
export function connectOffer(ids: () => string[], show: (answer: Document, text: string) => void): void {
  const box = byId('load');
  const account = box.dataset['account'] ?? '';
  const offered = JSON.parse(box.dataset['call'] ?? '') as PageCall;
  const status = byId('load-status');
  const button = byId('load-button') as HTMLButtonElement;
  button.addEventListener('click', async () => {
    button.disabled = true;
    status.textContent = 'Loading …';
    const [name = ''] = Object.keys(offered.arguments);
    const call = { ...offered, arguments: { [name]: ids().join() } };
    try {
      const { answer, text } = await run(account, call);
      new PaidCalls(call).keep(call.arguments, true);
      status.textContent = text;
      show(answer, text);
    } catch (error) {
      status.textContent = (error as Error).message;
    }
    button.disabled = false;
  });
  const isSignedIn = document.documentElement.classList.contains('signed-in');
  if (isSignedIn && ids().length > 0) void repeat(account, offered, new Set(ids()), show);
}

/** Shows the balance, and the stored answers of calls that this tab paid. */
async function repeat(
  account: string,
  offered: PageCall,
  locked: ReadonlySet<string>,
  show: (answer: Document, text: string) => void,
): Promise<void> {
  const { balance_eur } = await openSession(account).catch((): Session => ({ signed_in: true }));
  if (balance_eur !== undefined) byId('load-balance').textContent = `Balance: ${printEuro(balance_eur)}`;
  const paidCalls = new PaidCalls(offered);
  for (const args of paidCalls.all.filter((paid) => idsOf(paid).some((id) => locked.has(id)))) {
    const stored = run(account, { ...offered, arguments: args, max_price_eur: 0 });
    await stored.then(
      ({ answer, text }) => show(answer, text),
      // A day has passed, or there is a new release: the offer stays.
      () => paidCalls.keep(args, false),
    );
  }
}
