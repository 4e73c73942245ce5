// The button of "Follow this view" (api/pages/follow.ts): subscribes the owner of the session to the changes by mail.
import { sendCall } from './offer.ts';

/** Connects the buttons of the page, also those that are drawn later. */
export function connectFollow(): void {
  document.addEventListener('click', async ({ target }) => {
    const button = (target as Element).closest<HTMLButtonElement>('.follow-mail');
    if (button === null) return;
    const panel = button.closest<HTMLElement>('.follow-panel')!;
    const { dataset, ...conditions } = JSON.parse(panel.dataset['subscription']!) as { dataset: string };
    const status = panel.querySelector('[role=status]')!;
    button.disabled = true;
    status.textContent = 'Subscribing …';
    try {
      const call = { operation: 'keys_subscriptions_add', dataset, arguments: conditions, max_price_eur: 0 };
      const response = await sendCall(panel.dataset['account']!, call);
      const { email, message } = (await response.json().catch(() => ({}))) as { email?: string; message?: string };
      if (!response.ok) throw new Error(message ?? `Couldn't subscribe (${response.status}). Try again.`);
      status.textContent = `Sent a mail to ${email}: confirm the subscription with its link.`;
    } catch (error) {
      status.textContent = (error as Error).message;
      button.disabled = false;
    }
  });
}
