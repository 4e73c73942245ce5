// A panel beside the table with the record of a row: the values and sources that its page shows.
import { createElement } from '../lib/dom.ts';

/** Opens the panel for a record; `address` is that of its page. */
export async function openRecord(name: string, address: string): Promise<void> {
  const close = createElement('button', { type: 'button', className: 'button plain' }, 'Close');
  const link = createElement('a', { href: address }, name);
  const body = createElement('div', {}, 'Loading …');
  const panel = createElement(
    'dialog',
    { className: 'record-page viewer-record-panel' },
    createElement('p', { className: 'actions' }, createElement('strong', {}, link), close),
    body,
  );
  panel.setAttribute('aria-label', name);
  close.onclick = () => panel.close();
  // The backdrop belongs to the element of the panel itself.
  panel.onclick = ({ target }) => target === panel && panel.close();
  panel.onclose = () => panel.remove();
  document.body.append(panel);
  panel.showModal();
  const response = await fetch(address, { headers: { Accept: 'text/html' } }).catch(() => null);
  const text = response?.ok ? await response.text().catch(() => '') : '';
  const page = new DOMParser().parseFromString(text, 'text/html');
  const parts = page.querySelectorAll('.key-numbers, #values + .empty, #values ~ dl.facts');
  for (const anchor of page.querySelectorAll('.key-numbers a, .facts a[href="#load"]'))
    anchor.setAttribute('href', `${address}${anchor.getAttribute('href')}`);
  if (parts.length > 0) body.replaceChildren(...[...parts].map((part) => document.adoptNode(part)));
  else body.textContent = "Couldn't load the record. Open its page.";
}
