// What went wrong, in the place of the records, and what to do about it.
import { WELCOME_CREDIT } from '../../data/model/subscriptions.ts';
import { Refusal } from './ask.ts';
import type { Model } from './model.ts';
import { made } from './show.ts';

/** What is said of a key to who has none. */
const BEGINS = `every key begins with €${(WELCOME_CREDIT / 1_000_000).toFixed(2)}.`;

/** What is told before a question that would be refused; `names` are those of attributes. */
export const needsKey = (names: string): Refusal =>
  new Refusal(402, 'payment_required', `${names} is not public: enter a key, or leave it out.`);

/** Fills the box; `enter` leads to the field for a key. */
export function tellProblem(
  box: HTMLElement,
  error: unknown,
  { api, pages }: Pick<Model, 'api' | 'pages'>,
  enter: () => void,
): void {
  const { code, message, retry } = error instanceof Refusal ? error : new Refusal(0, 'fault', String(error));
  const hints: Record<string, string> = {
    quota_exceeded: `The free records of today are used up. With a key there is no such limit; ${BEGINS}`,
    payment_required: `With a key this call works; ${BEGINS}`,
    insufficient_credits: 'The balance of this key is too low: top it up.',
    invalid_key: 'This key is not known. Is it whole?',
    rate_limited: retry === null ? 'Wait a moment.' : `Wait ${retry} seconds.`,
  };
  const hint = hints[code];
  box.replaceChildren(made('strong', {}, message), ...(hint ? [made('p', {}, hint)] : []));
  if (!['quota_exceeded', 'payment_required', 'invalid_key'].includes(code)) return;
  const button = made('button', { type: 'button', className: 'button plain' }, 'Enter a key');
  button.addEventListener('click', enter);
  const guide = `${new URL(api).origin}${pages.replace(/\/datasets\/.*/, '')}/llms.txt`;
  const how = made('a', { href: guide }, 'How to get one');
  const free = made('a', { href: pages.replace('/datasets/', '/sql/') }, 'Ask all public values in SQL, free');
  box.append(made('p', { className: 'actions' }, button, how, free));
}
