// The calculator of the pricing page: what a month of calls costs in each plan, and the cheapest plan that
// allows it. The prices are in the table of the page.

const form = document.querySelector<HTMLFormElement>('form[data-calculator]')!;
const output = form.querySelector<HTMLElement>('[data-sum]')!;
const plans = [...document.querySelectorAll<HTMLElement>('[data-plan]')];

const euro = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR', maximumFractionDigits: 2 });

/** The number in a field; 0 for an empty or invalid one. */
const amountOf = (input: HTMLInputElement): number => {
  const value = Number(input.value);
  return Number.isFinite(value) && value > 0 ? value : 0;
};

function update(): void {
  const dataset = (form.elements.namedItem('for') as HTMLSelectElement).value;
  const inputs = [...form.querySelectorAll<HTMLInputElement>('input[data-prices]')];
  let calls = 0;
  for (const input of inputs) {
    const prices = JSON.parse(input.dataset['prices'] ?? '{}') as Record<string, number>;
    calls += amountOf(input) * (prices[dataset] ?? 0);
  }
  const rate = amountOf(form.elements.namedItem('rate') as HTMLInputElement);
  const bulk = (form.elements.namedItem('bulk') as HTMLInputElement).checked;
  const fits = plans.flatMap(({ dataset: { plan = '', name = '', calls: limit = '', bulk: has, month = '0' } }) =>
    Number(limit) >= rate && (has === 'true' || !bulk) ? [{ plan, name, month: Number(month) }] : [],
  );
  const [best] = fits.sort((a, b) => a.month - b.month);
  for (const card of plans) card.classList.toggle('best', card.dataset['plan'] === best?.plan);
  output.textContent =
    best === undefined
      ? `Calls: ${euro.format(calls)} a month. No plan allows ${rate} calls a minute.`
      : `${euro.format(calls + best.month)} a month with ${best.name}: ${euro.format(calls)} for calls${best.month > 0 ? ` and ${euro.format(best.month)} for the plan` : ''}.`;
}

// The fields are in the address, so that a calculation can be shared.
for (const [name, value] of new URLSearchParams(location.search)) {
  const field = form.elements.namedItem(name);
  if (field instanceof HTMLInputElement && field.type === 'checkbox') field.checked = true;
  else if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = value;
}
form.hidden = false;
form.addEventListener('input', () => {
  update();
  const url = new URL(location.href);
  url.search = new URLSearchParams(new FormData(form) as unknown as Record<string, string>).toString();
  history.replaceState(null, '', url);
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  update();
});
update();
