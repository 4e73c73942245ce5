// Citations of a record: text, BibTeX and CSL-JSON.
import type { PublicRecord } from '../../data/model/record.ts';
import type { Pack } from '../../packs/define/model.ts';
import { distinctionOf } from '../render/distinction.ts';
import { type Html, html } from './html.ts';

const PUBLISHER = 'Dataset Register';

/** Characters that LaTeX reads as commands, as text. */
const LATEX: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
};
const latex = (text: string): string =>
  text.replace(/[\\~^]|[{}$&#_%]/g, (special) => LATEX[special] ?? `\\${special}`);

interface Citation {
  key: string;
  title: string;
  /** YYYY-MM-DD: when a source last confirmed a value. */
  date: string;
  url: string;
  dataset: string;
  /** Names of the sources, as their licences require. */
  note: string;
}

function citationOf(record: PublicRecord, pack: Pack): Citation {
  const detail = distinctionOf(pack, record);
  const times = Object.values(record.provenance).map(({ observed_at }) => observed_at);
  return {
    key: `${pack.id}-${record.slug}`,
    title: detail === '' ? record.name : `${record.name} (${detail})`,
    date: (times.toSorted().at(-1) ?? record.updated_at).slice(0, 10),
    url: record.url,
    dataset: pack.title,
    note: pack.attribution,
  };
}

/** An entry of type misc, which every style of BibTeX knows. */
export function bibtex(record: PublicRecord, pack: Pack): string {
  const { key, title, date, url, dataset, note } = citationOf(record, pack);
  const fields = [
    ['title', latex(title)],
    ['howpublished', `${latex(dataset)}, ${PUBLISHER}`],
    ['year', date.slice(0, 4)],
    // Braces and backslashes would end the field; an address has them only percent-encoded.
    ['url', encodeURI(decodeURI(url))],
    ['note', `Checked ${date}. ${latex(note)}`],
  ];
  return `@misc{${key},\n${fields.map(([name, value]) => `  ${name} = {${value}}`).join(',\n')}\n}`;
}

/** The item of the Citation Style Language, as Zotero and Pandoc import it. */
export function cslJson(record: PublicRecord, pack: Pack): string {
  const { key, title, date, url, dataset, note } = citationOf(record, pack);
  const item = {
    id: key,
    type: 'dataset',
    title,
    'container-title': dataset,
    publisher: PUBLISHER,
    issued: { 'date-parts': [date.split('-').map(Number)] },
    URL: url,
    note,
  };
  return JSON.stringify([item], null, 2);
}

/** The section with a copy button for each form. */
export function citeSection(record: PublicRecord, pack: Pack): Html {
  const form = (name: string, text: string) =>
    html`<details><summary>${name}</summary><div class="call"><button class="copy" type="button" data-copy="${text}">Copy ${name}</button><pre tabindex="0" role="group" aria-label="Citation as ${name}"><code>${text}</code></pre></div></details>`;
  return html`<section aria-labelledby="cite"><h2 id="cite">Cite</h2>
<blockquote>${record.attribution}</blockquote>
<button class="copy" type="button" data-copy="${record.attribution}">Copy citation</button>
${form('BibTeX', bibtex(record, pack))}
${form('CSL-JSON', cslJson(record, pack))}
<p class="small">Licence: <a href="${pack.license.url}">${pack.license.name}</a>. Record <code>${record.id}</code>.</p></section>
`;
}
