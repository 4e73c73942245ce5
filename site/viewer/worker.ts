// The worker that holds the data: answers the requests of the page, one after the other.

import { type Edits, fetchEdits } from './edits.ts';
import type { Answer, Calls, Kind, Message } from './messages.ts';
import type { Model } from './model.ts';
import { ParquetStore } from './parquet-store.ts';
import { FileChanged, RangeFile } from './ranges.ts';
import { ViewQueries } from './view-queries.ts';

let model: Model | null = null;
let engine: Promise<ViewQueries> | null = null;
let edits: Promise<Edits | null> | null = null;

const post = (answer: Answer) => self.postMessage(answer);

async function open(of: Model): Promise<ViewQueries> {
  // The file may be replaced between the two requests: edits that it contains already change nothing.
  const missing = await (edits ?? fetchEdits(new URL(of.file, self.location.href).href));
  edits = null;
  const file = await RangeFile.open(new URL(of.file, self.location.href).href, of.footer);
  post({ received: file.received });
  file.progress = (received) => post({ received });
  return new ViewQueries(await ParquetStore.open(file, of, missing), of);
}

/** Answers a request; the file is opened again when it has changed. */
async function answer({ kind, request }: Message): Promise<Calls[Kind]['answer']> {
  if (model === null) throw new Error('The worker has no model.');
  engine ??= open(model).catch((error) => {
    engine = null;
    throw error;
  });
  const opened = await engine;
  // `kind` is the kind of `request`.
  return opened[kind](request as never);
}

self.addEventListener('message', async ({ data }: MessageEvent<Message | { model: Model }>) => {
  if ('model' in data) {
    model = data.model;
    edits = fetchEdits(new URL(model.file, self.location.href).href);
    post({ edited: (await edits) !== null });
    return;
  }
  try {
    post({ id: data.id, answer: await answer(data) });
  } catch (error) {
    const changed = error instanceof FileChanged;
    if (changed) engine = null;
    post({ id: data.id, error: error instanceof Error ? error.message : String(error), changed });
  }
});
