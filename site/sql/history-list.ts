// The list of earlier queries next to the console.
import { byId, createElement } from '../viewer/dom.ts';
import { consoleFragment } from './address.ts';
import type { QueryHistory } from './history.ts';

const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

/** Shows the queries; `onRun` runs one again. */
export function showHistory(queries: QueryHistory, onRun: (sql: string) => void): void {
  const [section, list] = [byId('sql-history'), byId('sql-past')];
  section.hidden = queries.queries.length === 0;
  const again = () => showHistory(queries, onRun);
  list.replaceChildren(
    ...queries.queries.map(({ sql, at, rows }) => {
      const short = sql.replace(/\s+/g, ' ').trim();
      const link = createElement('a', { href: consoleFragment({ sql, chart: null }), title: sql }, short);
      link.addEventListener('click', (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        onRun(sql);
      });
      const remove = createElement('button', { type: 'button', className: 'sql-forget' }, 'Remove');
      remove.setAttribute('aria-label', `Remove from the history: ${short}`);
      remove.addEventListener('click', () => {
        queries.remove(sql);
        again();
        section.querySelector<HTMLElement>('summary')?.focus();
      });
      const about = createElement(
        'span',
        { className: 'sql-past-about' },
        `${TIME.format(at)}, ${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'} `,
        remove,
      );
      return createElement('li', {}, link, about);
    }),
  );
  byId('sql-history-count').textContent = String(queries.queries.length);
  byId('sql-history-clear').onclick = () => {
    queries.clear();
    again();
  };
}
