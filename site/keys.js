// Script of the page that creates keys: the first call with the new key. The page works without it.

/** The form of the first call. */
const firstCall = document.querySelector('form[data-first-call]');
if (firstCall) {
  // The control named "dataset" hides the property of that name.
  const key = firstCall.getAttribute('data-key');
  const [status, answer] = ['[role=status]', '[data-answer]'].map((each) =>
    firstCall.parentElement.querySelector(each),
  );
  const button = firstCall.querySelector('button');
  const dataset = firstCall.elements.namedItem('dataset');
  const command = document.querySelector('[data-command]');

  /** The address of the call, relative to this page. */
  const address = () => dataset.selectedOptions[0].dataset.call;
  const show = () => {
    if (!command) return;
    command.textContent = command.dataset.command.replace('{call}', new URL(address(), location.href));
    command.closest('figure').querySelector('.copy').dataset.copy = command.textContent;
  };
  dataset.addEventListener('change', show);
  show();

  firstCall.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    status.textContent = 'Calling the API …';
    const began = performance.now();
    try {
      const headers = { Accept: 'application/json', Authorization: `Bearer ${key}` };
      const response = await fetch(address(), { headers, credentials: 'omit' });
      const body = await response.json();
      const [charge, balance] = ['x-charge-eur', 'x-balance-eur'].map((name) => response.headers.get(name));
      const money = charge === null ? '' : ` Charged €${charge}, balance €${balance}.`;
      const time = Math.round(performance.now() - began);
      status.textContent = response.ok
        ? `${response.status} in ${time} ms.${money}`
        : `${response.status}: ${body.message ?? 'The call failed.'}`;
      answer.textContent = JSON.stringify(body, null, 2);
      answer.hidden = false;
    } catch {
      status.textContent = 'The API does not respond. Try again in a moment.';
    }
    button.disabled = false;
  });
}
