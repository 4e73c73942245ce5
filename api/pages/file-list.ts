// Lists of the files to download: `/files/` and `/files/{ds}/`, as JSON for programs and as HTML pages for
// people.
import { z } from 'zod';
import { datasetAttribution, licenseText } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import { DATA_FILES } from '../render/data-files.ts';
import { plural, printBytes, printDate } from '../render/print.ts';
import { PAGE_ASSETS } from './assets.ts';
import { footerHtml, headerHtml, headHtml, prefixOf } from './frame.ts';
import { type Html, html } from './html.ts';

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

export function fileListHtml(list: FileList, base_url: string): string {
  const { dataset, title, release, files, license, attribution } = list;
  const prefix = prefixOf(base_url);
  return pageHtml(base_url, {
    path: `/files/${dataset}/`,
    title: `Files of ${title}`,
    description: `Files of ${title} to download: purpose, size, rows, SHA-256 and code to read each.`,
    lead: html`${plural(files.length, 'file')} of release <code>${release}</code>, free and without a key. <a href="${prefix}/guides/analysts/">How to read them</a>.`,
    content: html`<div class="file-cards">
${inOrder(files).map((file) => fileCard(`${prefix}/files/${dataset}/`, file))}
</div>
<p>Cite: ${attribution}</p>
<p>License: ${license}</p>
<p><a href="${prefix}/datasets/${dataset}/">${title}</a> · <a href="${prefix}/files/">Files of all datasets</a></p>`,
  });
}

const NAMES = Object.keys(DATA_FILES);

/** The files of values first. */
const inOrder = (files: FileList['files']) => files.toSorted((a, b) => NAMES.indexOf(a.name) - NAMES.indexOf(b.name));

/** A file: what it is for, its figures, the digest to compare, and code that reads it. */
function fileCard(folder: string, file: FileList['files'][number]): Html {
  const { name, url, bytes, rows, description, media_type, last_modified, sha256, withheld } = file;
  const purpose = description.replace(/; open$/, '').replace(/^./, (letter) => letter.toUpperCase());
  const figures = [printBytes(bytes), ...(rows === undefined ? [] : [plural(rows, 'row')]), media_type];
  const code = fileCode(name, url).map(
    ([language, text]) =>
      html`<h3>${language}</h3><div class="call"><pre tabindex="0"><code>${text}</code></pre><button class="copy" type="button">Copy</button></div>`,
  );
  return html`<section class="file-card"><h2>${withheld ? name : html`<a href="${folder}${name}">${name}</a>`}</h2>
<p>${purpose}.</p>
<p class="quiet">${figures.join(' · ')} · <time datetime="${last_modified}">${printDate(last_modified)}</time></p>
${
  withheld
    ? html`<p>Withheld: it is being written without a record that was removed.</p>`
    : html`<p class="file-digest">SHA-256 <code>${sha256}</code> <button class="copy" type="button" data-copy="${sha256}">Copy</button></p>`
}
${code.length > 0 && html`<details><summary>Code: DuckDB, pandas, R</summary>${code}</details>`}</section>
`;
}

/** Code that reads a file, by language; empty for one that is no table. */
function fileCode(name: string, url: string): [language: string, text: string][] {
  if (name.endsWith('.parquet'))
    return [
      ['DuckDB', `SELECT * FROM '${url}' LIMIT 10;`],
      ['pandas', `import pandas as pd  # with pyarrow\n\nrows = pd.read_parquet("${url}")`],
      ['R', `library(arrow)\n\ndownload.file("${url}", "${name}", mode = "wb")\nrows <- read_parquet("${name}")`],
    ];
  if (name !== 'public.duckdb') return [];
  return [
    ['DuckDB', `ATTACH '${url}' AS register (READ_ONLY);\nSELECT * FROM register.records LIMIT 10;`],
    [
      'pandas',
      `import duckdb\n\nduckdb.execute("ATTACH '${url}' AS register (READ_ONLY)")\nrows = duckdb.execute("FROM register.records").df()`,
    ],
    [
      'R',
      `library(duckdb)\n\ndownload.file("${url}", "${name}", mode = "wb")\nregister <- dbConnect(duckdb("${name}", read_only = TRUE))\nrows <- dbReadTable(register, "records")`,
    ],
  ];
}

export function fileListsHtml(lists: readonly FileList[], base_url: string): string {
  const prefix = prefixOf(base_url);
  return pageHtml(base_url, {
    path: '/files/',
    title: 'Files of all datasets',
    description: 'Files of every dataset to download, with their number, size and license.',
    lead: html`The public values of whole datasets, free and without a key.`,
    content: html`<div class="scroll" tabindex="0" role="region" aria-label="Files">
<table class="roomy">
<thead><tr><th scope="col">Dataset</th><th scope="col" class="figure">Size</th><th scope="col">Files</th><th scope="col">License</th></tr></thead>
<tbody>
${lists.map(
  ({ dataset, title, files, license }) =>
    html`<tr><th scope="row"><a href="${prefix}/files/${dataset}/">${title}</a></th><td class="figure">${printBytes(sum(files))}</td><td>${files.length}</td><td>${license}</td></tr>`,
)}
</tbody>
</table>
</div>`,
  });
}

const sum = (files: FileList['files']): number => files.reduce((total, { bytes }) => total + bytes, 0);

interface ListPage {
  path: string;
  title: string;
  description: string;
  lead: Html;
  content: Html;
}

function pageHtml(base_url: string, { path, title, description, lead, content }: ListPage): string {
  const prefix = prefixOf(base_url);
  const json = `${prefix}${path}${LIST_FILES.json}`;
  return String(html`<!doctype html>
<html lang="en">
<head>
${headHtml(prefix, PAGE_ASSETS)}
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
${content}
</main>
${footerHtml(prefix)}
</body>
</html>
`);
}
