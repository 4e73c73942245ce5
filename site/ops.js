// Keys and selection of the review list; without this script the list is a form with checkboxes.
(() => {
  const form = document.getElementById('bulk');
  if (!form) return;
  const all = document.getElementById('bulk-all');
  const count = document.getElementById('bulk-count');
  const help = document.getElementById('keys-help');
  const entries = () => [...document.querySelectorAll('.queue .entry:not(.done)')];
  const boxes = () => [...document.querySelectorAll('.pick')];
  const chosen = () => boxes().filter((box) => box.checked);
  const update = () => {
    const selected = chosen().length;
    count.textContent = selected === 0 ? '' : `${selected} selected`;
    for (const button of form.querySelectorAll('button')) button.disabled = selected === 0;
    all.checked = selected > 0 && selected === boxes().length;
    all.indeterminate = selected > 0 && !all.checked;
  };
  const selectAll = (on) => {
    for (const box of boxes()) box.checked = on;
    update();
  };
  const move = (step) => {
    const list = entries();
    const at = list.findIndex((entry) => entry.contains(document.activeElement));
    const next = list[at < 0 ? (step > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, at + step))];
    if (!next) return;
    next.tabIndex = -1;
    next.focus();
    next.scrollIntoView({ block: 'nearest' });
  };
  const current = () => entries().find((entry) => entry.contains(document.activeElement));
  const decide = (verdict) => {
    if (chosen().length === 0) {
      const box = current()?.querySelector('.pick');
      if (!box) return;
      box.checked = true;
      update();
    }
    form.requestSubmit(form.querySelector(`[value=${verdict}]`));
  };
  const actions = {
    j: () => move(1),
    k: () => move(-1),
    x: () => current()?.querySelector('.pick')?.click(),
    '*': () => selectAll(chosen().length < boxes().length),
    a: () => decide('approve'),
    r: () => decide('reject'),
    o: () => current()?.querySelector('a')?.click(),
    '?': () => {
      help.open = !help.open;
    },
  };
  document.addEventListener('keydown', (event) => {
    const typing = event.target.matches?.('input:not([type=checkbox]), select, textarea');
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  });
  document.addEventListener('change', (event) => event.target.matches('.pick') && update());
  document.addEventListener('htmx:afterSwap', update);
  addEventListener('pageshow', update);
  all.parentElement.hidden = false;
  all.addEventListener('change', () => selectAll(all.checked));
  update();
})();
