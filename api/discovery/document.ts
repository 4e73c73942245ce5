// Type of a discovery document, such as llms.txt or openapi.json: a path, a content type, and a function that
// builds its content from the register and the table of operations.

import type { Context, RegisterFacts } from '../contract/operation.ts';
import type { CallDeps } from '../gate/execute.ts';

/** Input of documents; the same for the live API and the nightly build. */
export interface View extends RegisterFacts, Pick<Context, 'base_url' | 'now'> {
  /** Whether calls can be paid with x402, so that documents agree with the 402. */
  x402?: boolean;
  /** Cursors in examples; absent in a build, which shows a placeholder. */
  cursors?: NonNullable<Context['cursors']>;
  /** What the nightly build wrote for the path of a document; null without a file. Absent in a build. */
  published?: (path: string) => Promise<Uint8Array<ArrayBuffer> | null>;
  /** Quotes of the 402; absent in a build. */
  quote?: CallDeps['payments']['quote'];
}

/** Path parameters of a document, by name. */
export type Params = Record<string, string>;

/**
 * A document, or several of one kind. The nightly build writes it below DIST_DIR at its URL path, unless
 * `live`.
 */
export interface Document {
  /** Hono path. With `:name` segments there are several documents, listed by `each`. */
  path: string;
  /** A few words, for lists of documents. */
  title: string;
  /** Relation of `/` to it (RFC 8288); absent if other documents link to it. */
  rel?: string;
  content_type: string;
  /** A file that another document loads: not in lists of documents. */
  part?: true;
  /** Depends on the time, or on the running service: no file is written. */
  live?: true;
  /** File below DIST_DIR, if it differs from the path. */
  file?: string;
  /** Path parameters of every document, for a path with parameters. */
  each?: (view: View) => Params[];
  /** Further response headers. */
  headers?: (view: View) => Record<string, string>;
  /**
   * The same as Markdown, for a document under `/v1`: every path there has a Markdown twin (specification
   * section 1).
   */
  markdown?: (view: View) => string;
  /** The same in other formats, which `Accept` selects. */
  alternates?: readonly Document[];
  /** null: no such document. Documents that are slow to build derive their parts from releases. */
  text(view: View, params: Params): Content | null | Promise<Content | null>;
}

export type Content = string | Uint8Array<ArrayBuffer>;

/** A document's path with its parameters filled in. */
function pathOf({ path }: Document, params: Params): string {
  return path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '');
}

/** Path and parameters of every document of this kind. */
export function addressesOf(document: Document, view: View): { path: string; params: Params }[] {
  return (document.each?.(view) ?? [{}]).map((params) => ({ path: pathOf(document, params), params }));
}
