// The panel with the API call of the view, as programs.
import { printEuro } from '../../api/render/print.ts';
import { byId, copyWithFeedback } from './dom.ts';
import type { Model } from './model.ts';
import { type Language, snippet } from './snippets.ts';
import { callOf, columnsOf, paidNames } from './state.ts';

/** Connects the panel, which follows `view`; `keyed`: the visitor has entered a key. */
export function connectApiPanel(model: Model, view: () => URLSearchParams, keyed: () => boolean): void {
  const panel = byId<HTMLDetailsElement>('viewer-api');
  let language: Language = 'curl';
  const fill = () => {
    const state = view();
    const hidden = columnsOf(state, model).filter(
      (name) => !model.attributes.find((each) => each.name === name)?.public,
    );
    const names = [...new Set([...paidNames(state, model), ...hidden])];
    const withKey = keyed() || names.length > 0;
    byId('api-price').textContent =
      `${printEuro(model.price)} a call with a key${names.length > 0 ? ` (${names.join(', ')}: paid)` : '; without one, 20 records a day are free'}.`;
    byId('api-code').textContent = snippet(language, `${model.api}/entities`, callOf(state, model), withKey);
  };
  panel.addEventListener('toggle', () => {
    if (panel.open) fill();
  });
  for (const button of panel.querySelectorAll<HTMLElement>('[data-language]'))
    button.addEventListener('click', () => {
      language = button.dataset['language'] as Language;
      for (const each of panel.querySelectorAll<HTMLElement>('[data-language]'))
        each.ariaPressed = String(each === button);
      fill();
    });
  byId('api-copy').addEventListener('click', (event) => {
    void copyWithFeedback(event.currentTarget as HTMLElement, byId('api-code').textContent ?? '');
  });
}
