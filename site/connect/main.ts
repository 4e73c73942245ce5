// The tabs of the page for agents: each has an address, and without a script all are shown one after another.
const list = document.querySelector<HTMLElement>('.host-tabs')!;
const tabs = [...list.querySelectorAll<HTMLAnchorElement>('a')];

list.role = 'tablist';
for (const tab of tabs) {
  tab.role = 'tab';
  tab.setAttribute('aria-controls', tab.hash.slice(1));
}

function show(): void {
  const chosen = tabs.find(({ hash }) => hash === location.hash) ?? tabs[0]!;
  for (const tab of tabs) {
    const panel = document.getElementById(tab.hash.slice(1))!;
    tab.ariaSelected = String(tab === chosen);
    tab.tabIndex = tab === chosen ? 0 : -1;
    panel.role = 'tabpanel';
    panel.hidden = tab !== chosen;
  }
}

list.addEventListener('click', (event) => {
  const tab = (event.target as Element).closest('a');
  if (!tab) return;
  event.preventDefault();
  history.replaceState(null, '', tab.hash);
  show();
});
list.addEventListener('keydown', ({ key }) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (step === undefined) return;
  const next = tabs[(tabs.indexOf(document.activeElement as HTMLAnchorElement) + step + tabs.length) % tabs.length]!;
  next.click();
  next.focus();
});
addEventListener('hashchange', show);
show();
