// What a discovery document is: a path, a content type and a text made from the register and the table of operations.
import type { Context } from '../operation.ts';

/** What documents are made from; the same for the live API and the nightly build. */
export type View = Pick<Context, 'releases' | 'operations' | 'base_url' | 'eur_usd' | 'now'>;

/** One document. Where `file` is set, the nightly build writes it there below DIST_DIR. */
export interface Document {
  path: string;
  file?: string;
  content_type: string;
  text(view: View): string;
}
