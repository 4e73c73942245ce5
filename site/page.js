// Scripts of every page: copy a text, search the guides. Every page works without them.

/* Copy buttons: `data-copy` is the text; when it is empty, the code next to the button is copied. */
document.addEventListener('click', async (event) => {
  const copy = event.target.closest?.('.copy');
  if (!copy) return;
  const text = copy.dataset.copy || copy.parentElement.querySelector('[data-text]')?.dataset.text;
  const label = copy.textContent;
  try {
    await navigator.clipboard.writeText(text);
    copy.textContent = 'Copied';
  } catch {
    copy.textContent = 'Not allowed';
  }
  setTimeout(() => {
    copy.textContent = label;
  }, 1500);
});

/* Search of the guides: without the script the form opens a list of all headings; with it results appear
   while typing. */
const form = document.querySelector('form[data-guides]');
if (form) {
  const [input, list, status] = ['input', '[data-found]', '[role=status]'].map((each) =>
    form.parentElement.querySelector(each),
  );
  let sections;
  const load = async () => {
    sections ??= await fetch(form.dataset.guides).then((answer) => (answer.ok ? answer.json() : []));
    return sections;
  };
  const fold = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  /** Score of a section: it must contain each word; words in titles and at word starts count more. */
  const score = ({ page, heading, text }, words) => {
    let sum = 0;
    for (const word of words) {
      const at = [
        [page, 4],
        [heading, 6],
        [text, 1],
      ].map(([where, weight]) => {
        const folded = fold(where);
        const position = folded.indexOf(word);
        if (position < 0) return 0;
        return weight * (position === 0 || !/[a-z0-9]/.test(folded[position - 1]) ? 2 : 1);
      });
      const best = Math.max(...at);
      if (best === 0) return 0;
      sum += best;
    }
    return sum;
  };
  const around = (text, word) => {
    const at = Math.max(0, fold(text).indexOf(word) - 60);
    return `${at > 0 ? '…' : ''}${text.slice(at, at + 180)}${text.length > at + 180 ? '…' : ''}`;
  };
  const search = async () => {
    const words = fold(input.value).split(/\s+/).filter(Boolean);
    const all = words.length === 0 ? [] : await load();
    const best = all
      .map((section) => ({ section, points: score(section, words) }))
      .filter(({ points }) => points > 0)
      .sort((a, b) => b.points - a.points)
      .slice(0, 20);
    list.replaceChildren(
      ...best.map(({ section }) => {
        const item = document.createElement('li');
        const link = document.createElement('a');
        link.href = section.at;
        link.textContent = section.heading === section.page ? section.page : `${section.page}: ${section.heading}`;
        const text = document.createElement('p');
        text.textContent = around(section.text, words[0]);
        item.append(link, text);
        return item;
      }),
    );
    status.textContent =
      words.length === 0
        ? ''
        : best.length === 0
          ? 'No results.'
          : `${best.length} ${best.length === 1 ? 'section' : 'sections'}`;
    list.hidden = best.length === 0;
  };
  input.addEventListener('input', search);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    search();
  });
  const query = new URLSearchParams(location.search).get('q');
  if (query) {
    input.value = query;
    search();
  }
}
