// The section of a record page with charts of its public numbers.
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { printDate, printWithUnit } from '../render/print.ts';
import { type Html, html } from './html.ts';
import { stepTable } from './record-values.ts';
import type { RelatedData, Step } from './related-data.ts';
import { rangeSwitch, stepCharts } from './step-chart.ts';

/** The section of charts, and of numbers that never changed; nothing without either. */
export function historySection(pack: Pack, { history }: RelatedData, checked: Readonly<Record<string, string>>): Html {
  const numbers = pack.attributes.filter(({ name, type }) => NUMERIC.includes(type) && checked[name] !== undefined);
  const drawn: Html[] = [];
  const constant: Html[] = [];
  for (const attribute of numbers) {
    const { name, unit } = attribute;
    const steps = history[name] ?? [];
    const [first] = steps;
    if (first === undefined) continue;
    const values = new Set(steps.map(({ value }) => JSON.stringify(value)));
    if (values.size > 1) drawn.push(chart(attribute, steps, checked[name]!));
    else if (first.value !== null)
      constant.push(
        html`<li><code>${name}</code> ${printWithUnit(first.value, unit)}, unchanged since <time datetime="${first.at}">${printDate(first.at)}</time></li>`,
      );
  }
  if (drawn.length + constant.length === 0) return html``;
  return html`<section aria-labelledby="history"><h2 id="history">History</h2>
${drawn.length > 0 && rangeSwitch()}${drawn}${constant.length > 0 && html`<ul class="constant">${constant}</ul>`}</section>
`;
}

function chart(attribute: Attribute, steps: readonly Step[], checked: string): Html {
  const { name, unit } = attribute;
  const newest = steps.at(-1)!.value;
  const changes = steps.length - 1;
  return html`<figure class="course"><figcaption><code>${name}</code> <strong>${newest === null ? 'withdrawn' : printWithUnit(newest, unit)}</strong> <span class="quiet">${changes} ${changes === 1 ? 'change' : 'changes'} since ${printDate(steps[0]!.at)}</span></figcaption>
${stepCharts(attribute, [{ name: '', place: 1, steps, checked }])}
<details><summary>Show as table<span class="away"> ${name}</span></summary>${stepTable(steps, unit)}</details></figure>
`;
}
