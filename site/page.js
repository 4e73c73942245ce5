// Script of every page: copies a text. Every page works without it.

/* Copy buttons: `data-copy` is the text; when it is absent or empty, the code next to the button is copied. */
const announcement = document.createElement('p');
announcement.className = 'away';
announcement.setAttribute('role', 'status');
document.addEventListener('click', async (event) => {
  const copy = event.target.closest?.('.copy');
  if (!copy) return;
  const around = copy.parentElement;
  const shown = [...around.querySelectorAll('pre')].find((pre) => pre.checkVisibility({ visibilityProperty: true }));
  const text = copy.dataset.copy || around.querySelector('[data-text]')?.dataset.text || shown?.textContent;
  const label = copy.textContent;
  document.body.append(announcement);
  try {
    await navigator.clipboard.writeText(text);
    copy.textContent = 'Copied';
  } catch {
    copy.textContent = 'Not allowed';
  }
  announcement.textContent = copy.textContent;
  setTimeout(() => {
    copy.textContent = label;
    announcement.textContent = '';
  }, 1500);
});

/* Language tabs: a choice is for every block, on this page and the next. */
const CODE_LANGUAGE = 'code language';
const tabs = [...document.querySelectorAll('.language-tabs input')];
const choose = (language) => {
  for (const tab of tabs) if (tab.value === language) tab.checked = true;
};
if (tabs.length > 0) choose(localStorage.getItem(CODE_LANGUAGE));
document.addEventListener('change', ({ target }) => {
  if (!tabs.includes(target)) return;
  choose(target.value);
  localStorage.setItem(CODE_LANGUAGE, target.value);
});
