// The calculator of a comparison: amounts from the numbers in the table and the inputs of the form.
import { amountText, BEST_LABEL, bestOf, totalText } from '../../api/render/comparison.ts';
import { readInput, type TermResult, termAmount, totalAmount } from '../../packs/define/calculator.ts';
import type { Calculator } from '../../packs/define/model.ts';
import { createElement } from '../viewer/dom.ts';

const section = (): HTMLElement | null => document.querySelector('[data-calculator]');

const calculatorOf = (element: HTMLElement): Calculator =>
  JSON.parse(element.dataset['calculator'] ?? '') as Calculator;

const field = (element: HTMLElement, name: string): HTMLInputElement | null =>
  element.querySelector(`input[name="${CSS.escape(name)}"]`);

/** The inputs that differ from their defaults, as parameters of the address; '' removes one. */
export function changedInputs(): Record<string, string> {
  const element = section();
  if (element === null) return {};
  return Object.fromEntries(
    calculatorOf(element).inputs.map((input) => {
      const value = readInput(field(element, input.name)?.value, input.default);
      return [input.name, value === input.default ? '' : String(value)];
    }),
  );
}

/** The number of a cell in the table. */
function numberIn(attribute: string, slug: string): TermResult {
  const row = document.querySelector(`#comparison tr[data-attribute="${CSS.escape(attribute)}"]`);
  const cell = row?.querySelector<HTMLElement>(`td[data-slug="${CSS.escape(slug)}"]`);
  if (cell?.classList.contains('locked')) return 'locked';
  const { min, max } = cell?.dataset ?? {};
  return min === undefined || max === undefined ? 'missing' : { min: Number(min), max: Number(max) };
}

/** Computes all amounts again. */
export function computeAmounts(): void {
  const element = section();
  if (element === null) return;
  const calculator = calculatorOf(element);
  const { unit, better, terms } = calculator;
  const inputs = Object.fromEntries(
    calculator.inputs.map((input) => [input.name, readInput(field(element, input.name)?.value, input.default)]),
  );
  for (const cell of element.querySelectorAll<HTMLElement>('tr[data-term] td[data-slug]')) {
    const term = terms[Number(cell.parentElement?.dataset['term'])];
    if (term === undefined) continue;
    const amount = termAmount(term, inputs, (name) => numberIn(name, cell.dataset['slug'] ?? ''));
    cell.textContent = amount === 'locked' ? 'Locked' : amount === 'missing' ? 'No value' : amountText(amount, unit);
  }
  const cells = [...element.querySelectorAll<HTMLElement>('tr.total td[data-slug]')];
  const totals = cells.map((cell) =>
    totalAmount(calculator, inputs, (name) => numberIn(name, cell.dataset['slug'] ?? '')),
  );
  const complete = totals.every(({ locked, missing }) => locked.length + missing.length === 0);
  const best = complete ? bestOf(totals, better) : [];
  for (const [i, cell] of cells.entries()) {
    cell.replaceChildren(createElement('span', { className: 'said' }, totalText(totals[i]!, unit)));
    if (best[i] && better)
      cell.append(' ', createElement('span', { className: 'tag public best' }, BEST_LABEL[better]));
  }
}
