// Renders a range of records of a release: their Markdown pages, and their parts of the full text and of the
// GeoJSON file. Runs in this thread or a worker (pages-threads.ts).
import { hash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fullTextRecord } from '../../api/operations/dataset/dataset_full_text.ts';
import { recordPage } from '../../api/pages/record-markdown.ts';
import { publicPoint } from '../../api/render/data-files.ts';
import { geojsonFeature } from '../../api/render/geojson.ts';
import { RELEASE_FILES } from '../../data/model/layout.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import { recordUrl } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import { writePublicFile } from './output.ts';
import { recordLines } from './record-lines.ts';

/** A range of records: ordinals from `from` up to, not including, `to`. */
export interface RenderTask {
  from: number;
  to: number;
  /** First bytes of their lines in records.jsonl, and of the next line. */
  starts: Float64Array<ArrayBuffer>;
  /** Ordinals of the records whose page is rendered. */
  pages: number[];
  /** A folder to which the pages are written; null: the caller writes them. */
  folder: string | null;
  /** Whether the full text and the features of all of them are rendered. */
  text: boolean;
  /** Ordinals of opted-out records, which are left out. */
  removed: number[];
}

interface RenderedPage {
  ord: number;
  slug: string;
  bytes: number;
  sha256: string;
  /** The Markdown text; null: it was written to the folder of the task. */
  page: string | null;
}

/** In the order of ordinals. */
export interface RenderedRecords {
  pages: RenderedPage[];
  /** One text per record, joined with ''; empty when `text` is false. */
  text: string[];
  /** One Feature per record; also empty when the dataset has no public point. */
  features: string[];
}

/** Name of a record's page in the folder of its dataset. */
export const pageName = (slug: string): string => `${slug}.md`;

/** Writes files; of several threads only one at a time. */
export type WriteTurn = (write: () => void) => void;

/** Stored bodies of a task with their ordinals: all of them for the text, else those of the pages. */
function* storedBodies(folder: string, { from, to, starts, pages, text }: RenderTask): Generator<[number, string]> {
  const file = openSync(join(folder, RELEASE_FILES.jsonl), 'r');
  try {
    if (!text)
      for (const ord of pages)
        for (const body of recordLines(file, starts, ord - from, ord - from + 1)) yield [ord, body];
    else {
      let ord = from;
      for (const body of recordLines(file, starts, 0, to - from)) yield [ord++, body];
    }
  } finally {
    closeSync(file);
  }
}

/**
 * Reads the stored bodies of a task from `folder`, the folder of the release, and renders them. `base` is the
 * base URL of links.
 */
export function renderRecords(
  pack: Pack,
  folder: string,
  base: string,
  task: RenderTask,
  inTurn: WriteTurn = (write) => write(),
): RenderedRecords {
  const { pages, text } = task;
  const rendered: RenderedRecords = { pages: [], text: [], features: [] };
  const attributes = pack.attributes.filter((attribute) => attribute.public);
  const mapped = text && publicPoint(pack) !== undefined;
  const contents: Buffer[] = [];
  const wanted = new Set(pages);
  const removed = new Set(task.removed);
  for (const [ord, body] of storedBodies(folder, task)) {
    if (removed.has(ord)) continue;
    const record = JSON.parse(body) as StoredRecord;
    if (text) rendered.text.push(fullTextRecord(record, pack, base));
    if (mapped)
      rendered.features.push(geojsonFeature({ attributes }, { ...record, url: recordUrl(base, pack.id, record.slug) }));
    if (!wanted.has(ord)) continue;
    const content = Buffer.from(recordPage(record, pack, base));
    const sha256 = hash('sha256', content, 'hex');
    const page = task.folder === null ? content.toString() : null;
    rendered.pages.push({ ord, slug: record.slug, bytes: content.length, sha256, page });
    if (page === null) contents.push(content);
  }
  const { folder: place } = task;
  if (place !== null)
    inTurn(() => {
      for (const [i, content] of contents.entries())
        writePublicFile(join(place, pageName(rendered.pages[i]!.slug)), content);
    });
  return rendered;
}
