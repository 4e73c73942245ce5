// The form on a record's page that reports a mistake, and the page after it.
import type { PublicRecord } from '../../data/model/record.ts';
import { datasetUrl } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import { PAGE_ASSETS } from './assets.ts';
import { footerHtml, headerHtml, headHtml, prefixOf } from './frame.ts';
import { type Html, html } from './html.ts';

/** The form; it works without a script. */
export function reportForm(record: Pick<PublicRecord, 'slug'>, pack: Pack, prefix: string): Html {
  const action = `${prefix}/v1/${pack.id}/entities/${record.slug}/reports`;
  const options = pack.attributes.map(({ name }) => html`<option>${name}</option>`);
  return html`<section aria-labelledby="report"><h2 id="report">Mistake?</h2><details><summary>Report a mistake</summary><form class="report" method="post" action="${action}">
<label>Field <select name="attribute"><option value="">The whole record</option>${options}</select></label>
<label>What is wrong, and how do you know? <textarea name="message" rows="4" maxlength="1000" required></textarea></label>
<label>E-mail for questions (optional) <input name="contact" type="email" maxlength="254" autocomplete="email"></label>
<button class="button" type="submit">Send report</button></form></details></section>
`;
}

/** The page after the form was sent. */
export function receivedPage(base_url: string, pack: Pack, id: string): string {
  const prefix = prefixOf(base_url);
  return page(
    prefix,
    'Report received',
    html`<p>Thank you. The operators of the dataset see your report and check it against the sources. Its number is <code>${id}</code>.</p>
<p><a href="${datasetUrl(prefix, pack.id)}/">${pack.title}</a></p>`,
  );
}

/** The page when a report was refused; `path` is that of the call. */
export function refusedReportPage(message: string, { base_url, path }: { base_url: string; path: string }): string {
  const prefix = prefixOf(base_url);
  const [, , dataset = '', , record = ''] = path.split('/');
  return page(
    prefix,
    'Report not sent',
    html`<p>${message}</p>
<p>Your text is still in the form: go back in your browser, or open <a href="${prefix}/datasets/${dataset}/${record}">the record</a>.</p>`,
  );
}

function page(prefix: string, title: string, body: Html): string {
  return String(html`<!doctype html>
<html lang="en">
<head>
${headHtml(prefix, PAGE_ASSETS)}
<meta name="robots" content="noindex">
<title>${title} · Dataset Register</title>
</head>
<body>
${headerHtml(prefix)}
<main id="main">
<h1>${title}</h1>
${body}
</main>
${footerHtml(prefix)}
</body>
</html>
`);
}
