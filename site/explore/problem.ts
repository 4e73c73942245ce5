// Error messages in place of the records, with what to do about them.
import { WELCOME_CREDIT } from '../../data/model/subscriptions.ts';
import { Refusal } from './ask.ts';
import type { Model } from './model.ts';
import { createElement } from './show.ts';

/** The part of a message that explains keys to visitors without one. */
const BEGINS = `every new key has €${(WELCOME_CREDIT / 1_000_000).toFixed(2)}.`;

/** The error that is shown instead of a call that needs a key; `names` are attributes. */
export const needsKey = (names: string): Refusal =>
  new Refusal(402, 'payment_required', `${names} is not public: enter a key or remove it.`);

/** Fills the box; `enter` opens the field for a key. */
export function showProblem(
  box: HTMLElement,
  error: unknown,
  { api, pages }: Pick<Model, 'api' | 'pages'>,
  enter: () => void,
): void {
  const { code, message, retry } = error instanceof Refusal ? error : new Refusal(0, 'fault', String(error));
  const hints: Record<string, string> = {
    quota_exceeded: `You have used the free records of today. A key has no such limit; ${BEGINS}`,
    payment_required: `With a key this call works; ${BEGINS}`,
    insufficient_credits: 'The balance of this key is too low: top it up.',
    invalid_key: 'Key not recognised. Check that it is complete.',
    rate_limited: retry === null ? 'Wait a moment.' : `Wait ${retry} seconds.`,
  };
  const hint = hints[code];
  box.replaceChildren(createElement('strong', {}, message), ...(hint ? [createElement('p', {}, hint)] : []));
  if (!['quota_exceeded', 'payment_required', 'invalid_key'].includes(code)) return;
  const button = createElement('button', { type: 'button', className: 'button plain' }, 'Enter a key');
  button.addEventListener('click', enter);
  const guide = `${new URL(api).origin}${pages.replace(/\/datasets\/.*/, '')}/llms.txt`;
  const how = createElement('a', { href: guide }, 'How to get a key');
  const free = createElement(
    'a',
    { href: pages.replace('/datasets/', '/sql/') },
    'Query all public values with SQL, free',
  );
  box.append(createElement('p', { className: 'actions' }, button, how, free));
}
