// The calculator of a comparison: a form with the inputs, and the amounts for each record. The script of the
// page computes them again while the reader types (site/compare/calculator.ts).
import { endsOf, type TermResult, termAmount, totalAmount } from '../../packs/define/calculator.ts';
import type { Calculator } from '../../packs/define/model.ts';
import { amountText, BEST_LABEL, bestOf, totalText } from '../render/comparison.ts';
import { type ComparedColumn, type ComparisonData, labelOf } from './compare-data.ts';
import { lockedAttributes } from './compare-table.ts';
import { type Html, html } from './html.ts';

/** The section; nothing without a calculator. */
export function calculatorSection(page: ComparisonData, prefix: string): Html {
  const { pack, columns, inputs, differences } = page;
  const { calculator } = pack;
  if (calculator === null || columns.length === 0) return html``;
  const fields = calculator.inputs.map(
    ({ name, label, unit }) =>
      html`<label>${label}<span><input type="number" name="${name}" value="${inputs[name]}" min="0" step="any" inputmode="decimal">${unit !== null && html` ${unit}`}</span></label>`,
  );
  const ids = columns.map(({ record }) => record.slug).join();
  return html`<section aria-labelledby="calculator" class="calculator" data-calculator="${JSON.stringify(calculator)}"><h2 id="calculator">${calculator.title}</h2>
<form id="calculator-form" action="${prefix}/compare/${pack.id}"><input type="hidden" name="ids" value="${ids}">${differences && html`<input type="hidden" name="differences" value="1">`}
${fields}
<button class="button plain" type="submit">Compute</button></form>
${amounts(page, calculator)}
</section>
`;
}

function amounts(page: ComparisonData, calculator: Calculator): Html {
  const { columns, inputs } = page;
  const locked = new Set(lockedAttributes(page).map(({ name }) => name));
  const reader =
    ({ record }: ComparedColumn) =>
    (name: string): TermResult =>
      endsOf(record.attributes[name]) ?? (locked.has(name) ? 'locked' : 'missing');
  const terms = calculator.terms.map((term, i) => {
    const label = calculator.inputs.find(({ name }) => name === term.input)?.label ?? term.input;
    const cells = columns.map((column) => {
      const amount = termAmount(term, inputs, reader(column));
      return html`<td data-slug="${column.record.slug}">${typeof amount === 'string' ? AMOUNT_STATE[amount] : amountText(amount, calculator.unit)}</td>`;
    });
    return html`<tr data-term="${i}"><th scope="row">${label}<span><code>${term.attribute}</code></span></th>${cells}</tr>\n`;
  });
  const totals = columns.map((column) => totalAmount(calculator, inputs, reader(column)));
  const complete = totals.map((total) => (total.locked.length + total.missing.length > 0 ? null : total));
  // A total that is not complete may be the best one.
  const best = complete.includes(null) ? [] : bestOf(complete, calculator.better);
  const total = columns.map(({ record }, i) => {
    const mark = best[i] && html` <span class="tag public best">${BEST_LABEL[calculator.better!]}</span>`;
    return html`<td data-slug="${record.slug}"><span class="said">${totalText(totals[i]!, calculator.unit)}</span>${mark}</td>`;
  });
  return html`<div class="scroll compare-scroll" role="region" aria-label="${calculator.title} by record" tabindex="0"><table class="compare amounts"><caption class="away">${calculator.title} by record, in ${calculator.unit}</caption>
<thead><tr><td></td>${columns.map((column) => html`<th scope="col">${labelOf(page, column)}</th>`)}</tr></thead>
<tbody>${terms}<tr class="total"><th scope="row">Total</th>${total}</tr></tbody></table></div>`;
}

/** The text of an amount that is not known. */
const AMOUNT_STATE: Readonly<Record<'locked' | 'missing', string>> = { locked: 'Locked', missing: 'No value' };
