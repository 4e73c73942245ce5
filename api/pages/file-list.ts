// Lists of the files to download: `/files/` and `/files/{ds}/`, as JSON for programs and as HTML pages for
// people.
import { z } from 'zod';
import { datasetAttribution, licenseText } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import { DATA_FILES } from '../render/data-files.ts';
import { plural, printBytes, printDate, printNumber } from '../render/print.ts';
import { SCRIPT_ASSET, STYLE_ASSET } from './assets.ts';
import { footerHtml, headerHtml, headHtml, prefixOf } from './frame.ts';
import { type Html, html, joinHtml } from './html.ts';

/** File names of a list in its folder. */
export const LIST_FILES = { json: 'index.json', html: 'index.html' } as const;

const KNOWN: Readonly<Record<string, { media_type: string; description: string }>> = DATA_FILES;
const UNKNOWN = { media_type: 'application/octet-stream', description: '' };

/** The JSON of `/files/{ds}/`. */
export const FileList = z.object({
  dataset: z.string(),
  title: z.string(),
  release: z.string(),
  files: z.array(
    z.object({
      name: z.string(),
      url: z.string(),
      description: z.string(),
      media_type: z.string(),
      bytes: z.number(),
      /** Number of rows, for files of values. */
      rows: z.number().optional(),
      /** In hex. */
      sha256: z.string(),
      /** Time of its values, ISO 8601. */
      last_modified: z.string(),
      /** It contains a record that was opted out: 503 until it is written without that record. */
      withheld: z.literal(true).optional(),
    }),
  ),
  license: z.string(),
  attribution: z.string(),
});
export type FileList = z.infer<typeof FileList>;

/** The list of one dataset, ordered by name. */
export function fileList(
  pack: Pack,
  { release, last_modified, base_url }: { release: string; last_modified: string; base_url: string },
  files: readonly { name: string; bytes: number; rows?: number; sha256: string }[],
): FileList {
  return {
    dataset: pack.id,
    title: pack.title,
    release,
    files: files
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, ...measures }) => {
        const url = `${base_url}/files/${pack.id}/${name}`;
        const { media_type, description } = KNOWN[name] ?? UNKNOWN;
        return { name, url, media_type, description, ...measures, last_modified };
      }),
    license: licenseText(pack),
    attribution: datasetAttribution(pack, base_url),
  };
}

export const fileListJson = (list: FileList): string => `${JSON.stringify(list, null, 1)}\n`;

/**
 * `{datasets: [{dataset, title, url, files, bytes, license, attribution}]}`: number of files of each dataset.
 */
export function fileListsJson(lists: readonly FileList[], base_url: string): string {
  const datasets = lists.map(({ dataset, title, files, license, attribution }) => {
    const url = `${base_url}/files/${dataset}/`;
    return { dataset, title, url, files: files.length, bytes: sum(files), license, attribution };
  });
  return `${JSON.stringify({ datasets }, null, 1)}\n`;
}

export function fileListHtml(
  { dataset, title, release, files, license, attribution }: FileList,
  base_url: string,
): string {
  const prefix = prefixOf(base_url);
  const rows = files.map(({ name, bytes, rows: count, description, media_type, last_modified, sha256, withheld }) => {
    const link = html`<a href="${prefix}/files/${dataset}/${name}">${name}</a>`;
    return [
      withheld ? `${name} (withheld: being written without a record that was opted out)` : link,
      printBytes(bytes),
      count === undefined ? null : printNumber(count),
      description,
      media_type,
      html`<time datetime="${last_modified}">${printDate(last_modified)}</time>`,
      withheld ? null : html`<code class="digest">${sha256}</code>`,
    ];
  });
  return pageHtml(base_url, {
    path: `/files/${dataset}/`,
    title: `Files of ${title}`,
    description: `Files of ${title} to download: name, size, rows, media type and SHA-256 of each.`,
    lead: html`${plural(files.length, 'file')} of release <code>${release}</code>, free and without a key. <a href="${prefix}/guides/analysts/">How to read them</a>.`,
    columns: ['File', 'Size', 'Rows', 'Content', 'Media type', 'Last modified', 'SHA-256'],
    rows,
    after: html`<p>Cite: ${attribution}</p>
<p>License: ${license}</p>
<p><a href="${prefix}/datasets/${dataset}/">${title}</a> · <a href="${prefix}/files/">Files of all datasets</a></p>`,
  });
}

export function fileListsHtml(lists: readonly FileList[], base_url: string): string {
  const prefix = prefixOf(base_url);
  return pageHtml(base_url, {
    path: '/files/',
    title: 'Files of all datasets',
    description: 'Files of every dataset to download, with their number, size and license.',
    lead: html`The public values of whole datasets, free and without a key.`,
    columns: ['Dataset', 'Size', 'Files', 'License'],
    rows: lists.map(({ dataset, title, files, license }) => [
      html`<a href="${prefix}/files/${dataset}/">${title}</a>`,
      printBytes(sum(files)),
      String(files.length),
      license,
    ]),
  });
}

const sum = (files: FileList['files']): number => files.reduce((total, { bytes }) => total + bytes, 0);

interface ListPage {
  path: string;
  title: string;
  description: string;
  columns: readonly string[];
  lead: Html;
  /** The first cell names the row, the second is a size. */
  rows: readonly (readonly (Html | string | null)[])[];
  after?: Html;
}

function pageHtml(base_url: string, { path, title, description, lead, columns, rows, after }: ListPage): string {
  const prefix = prefixOf(base_url);
  const json = `${prefix}${path}${LIST_FILES.json}`;
  const body = rows.map(
    ([name, size, ...cells]) =>
      html`<tr><th scope="row">${name}</th><td class="figure">${size}</td>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  );
  return String(html`<!doctype html>
<html lang="en">
<head>
${headHtml(prefix, { style: STYLE_ASSET.path, script: SCRIPT_ASSET.path })}
<title>${title} · Dataset Register</title>
<meta name="description" content="${description}">
<link rel="canonical" href="${base_url + path}">
<link rel="alternate" type="application/json" title="This list as JSON" href="${json}">
</head>
<body>
${headerHtml(prefix, path)}
<main id="main">
<h1>${title}</h1>
<p class="lead">${lead} The same list <a href="${json}">as JSON</a>.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Files">
<table class="roomy">
<thead><tr>${columns.map((column) => html`<th scope="col"${column === 'Size' && html` class="figure"`}>${column}</th>`)}</tr></thead>
<tbody>
${joinHtml(body)}
</tbody>
</table>
</div>
${after}
</main>
${footerHtml(prefix)}
</body>
</html>
`);
}
