// The page of a record where only files are hosted: draws the Markdown file of the record at this address
// (docs/decisions/0034-record-pages.md).
import { drawMarkdown } from './markdown.ts';

const place = document.querySelector<HTMLElement>('#record')!;
/** As `printDate` writes it; its module would be one more request before the record. */
const DATE = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const path = location.pathname.replace(/\/$/, '');

/** A time of the file as its day, with the exact time for programs. */
function day(cell: Element): void {
  const text = cell.textContent.trim();
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return;
  const time = document.createElement('time');
  time.dateTime = text;
  time.textContent = DATE.format(new Date(text));
  cell.replaceChildren(time);
}

/** A link named `source` shows the host that it leads to; its name has the attribute of its row. */
function source(link: HTMLAnchorElement): void {
  if (link.textContent !== 'source') return;
  const host = link.hostname.replace(/^www\./, '');
  link.textContent = host;
  link.setAttribute('aria-label', `Source of ${link.closest('tr')?.cells[0]?.textContent ?? 'the value'}: ${host}`);
}

function show(text: string): void {
  const drawn = drawMarkdown(text);
  const title = drawn.find(({ tagName }) => tagName === 'H1')?.textContent ?? '';
  if (title !== '') document.title = `${title} · ${place.dataset['title'] ?? ''}`;
  place.replaceChildren(...drawn);
  place.querySelectorAll('td').forEach(day);
  place.querySelectorAll('a').forEach(source);
  const canonical = document.createElement('link');
  canonical.rel = 'canonical';
  canonical.href = (place.dataset['base'] ?? '') + path.slice((place.dataset['prefix'] ?? '').length);
  document.head.append(canonical);
}

/** A page without a record must not be indexed, whatever status its host sends. */
function missing(title: string, text: string): void {
  const robots = document.createElement('meta');
  robots.name = 'robots';
  robots.content = 'noindex';
  document.head.append(robots);
  const [heading, paragraph] = [document.createElement('h1'), document.createElement('p')];
  heading.textContent = title;
  paragraph.textContent = text;
  place.replaceChildren(heading, paragraph);
}

for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-markdown]')) link.href = `${path}.md`;

try {
  const response = await fetch(`${path}.md`, { headers: { Accept: 'text/markdown' } });
  const isData = response.ok && response.headers.get('content-type')?.startsWith('text/html') !== true;
  if (isData) show(await response.text());
  else if (response.ok || response.status === 404 || response.status === 410)
    missing('No such record', 'The dataset has no record at this address, or it was removed.');
  else
    missing('The record could not be loaded', `The server answered ${response.status}. Reload the page to try again.`);
} catch {
  missing('The record could not be loaded', 'The connection failed. Reload the page to try again.');
} finally {
  place.removeAttribute('aria-busy');
}
