// What a discovery document is: an address, a content type and a text made from the register and the table of operations.

import type { Context } from '../contract/operation.ts';
import type { Gate } from '../gate/execute.ts';

/** What documents are made from; the same for the live API and the nightly build. */
export type View = Pick<Context, 'releases' | 'operations' | 'base_url' | 'eur_usd' | 'now'> & {
  /** Whether calls can be paid with x402, so that no document promises what the 402 does not. */
  x402?: boolean;
  /** Cursors in examples; absent in a build, which shows a text in their place. */
  cursors?: NonNullable<Context['cursors']>;
  /** What the 402 of a call asks; absent in a build, which asks nobody. */
  quote?: Gate['payments']['quote'];
};

/** Parameters of the address of one of several like documents, by name. */
export type Params = Record<string, string>;

/** A document, or several alike. The nightly build writes it below DIST_DIR, at the path of its URL, unless `live`. */
export interface Document {
  /** Hono path. With `:name` segments there are several, and `each` lists them. */
  path: string;
  /** A few words, for lists of documents. */
  title: string;
  /** Relation of `/` to it (RFC 8288); absent where other documents lead to it. */
  rel?: string;
  content_type: string;
  /** A piece of another document, which loads it: in no list of documents. */
  part?: true;
  /** It depends on the moment, or on the running service: no file is written. */
  live?: true;
  /** File below DIST_DIR, where it is not the path. */
  file?: string;
  /** Answers only to who asks: every address of a document with parameters. */
  each?: (view: View) => Params[];
  /** Further headers of the answer. */
  headers?: (view: View) => Record<string, string>;
  /** The same as Markdown, for a document under `/v1`: every path there has such a twin (specification section 1). */
  markdown?: (view: View) => string;
  /** null: there is no such document. What takes long is remembered by the document itself (`remembered`). */
  text(view: View, params: Params): Content | null | Promise<Content | null>;
}

export type Content = string | Uint8Array<ArrayBuffer>;

/** A document's path with its parameters filled in. */
function pathOf({ path }: Document, params: Params): string {
  return path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '');
}

/** Every address of a document and its parameters. */
export function addressesOf(document: Document, view: View): { path: string; params: Params }[] {
  return (document.each?.(view) ?? [{}]).map((params) => ({ path: pathOf(document, params), params }));
}

/** Makes a content once for each key, and keeps the newest of each name: documents that cost a while to make. */
export function remembered<T>(
  key: (view: View, params: Params) => string | Promise<string>,
  make: (view: View, params: Params) => T | Promise<T>,
): (view: View, params: Params) => Promise<T> {
  const kept = new Map<string, { key: string; made: Promise<T> }>();
  return async (view, params) => {
    const name = Object.values(params).join('/');
    const wanted = await key(view, params);
    const before = kept.get(name);
    if (before?.key === wanted) return before.made;
    const made = Promise.resolve(make(view, params));
    kept.set(name, { key: wanted, made });
    made.catch(() => kept.delete(name));
    return made;
  };
}
