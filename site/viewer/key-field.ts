// The field for the visitor's API key, on the table of a dataset and on comparisons.
import { byId } from './dom.ts';

const STORED = 'register key';

/** The key that the visitor chose to keep in this tab; null: none. */
export const storedKey = (): string | null => sessionStorage.getItem(STORED);

/** Keeps a key in the storage of this tab; null removes it. */
export function storeKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(STORED);
  else sessionStorage.setItem(STORED, key);
}

/** The visitor's key: in memory, or in the tab's storage on request. */
export class KeyField {
  value: string | null = storedKey();
  readonly #input = document.getElementById('viewer-key-input') as HTMLInputElement | null;
  readonly #keep = document.getElementById('viewer-keep') as HTMLInputElement | null;

  constructor(changed: () => void, submitted: () => void = () => {}) {
    if (this.#input === null || this.#keep === null) return;
    const [input, keep] = [this.#input, this.#keep];
    if (this.value !== null) {
      input.value = this.value;
      keep.checked = true;
    }
    const read = () => {
      this.value = input.value.trim() || null;
      storeKey(keep.checked ? this.value : null);
      changed();
    };
    input.addEventListener('change', read);
    byId<HTMLFormElement>('viewer-key-form').addEventListener('submit', (event) => {
      event.preventDefault();
      read();
      if (this.value === null) return;
      byId<HTMLDetailsElement>('viewer-key').open = false;
      submitted();
    });
    keep.addEventListener('change', read);
  }

  /** Opens the field. */
  open(): void {
    byId<HTMLDetailsElement>('viewer-key').open = true;
    this.#input?.focus();
  }
}
