// Examples in the OpenAPI document: real answers of the current release to small queries for public values.
import { nextTurn } from '../../data/plan/slices.ts';
import type { Pack } from '../../packs/define/model.ts';
import { type Context, type Operation, searchOf } from '../contract/operation.ts';
import type { View } from './document.ts';
import { openPath } from './openapi-names.ts';
import { prerenderContext } from './prerender-context.ts';

type Release = NonNullable<Context['release']>;

/** A request and its answer with short lists, by dataset and operation. */
export interface ExampleAnswer {
  /** `GET /v1/tools/facets?by=maker&limit=3` */
  question: string;
  answer: unknown;
}

/** Number of records used in the examples of a dataset. */
const SLUGS = 2;

/** Slugs of the records used in the examples of a dataset. */
export async function slugsOf(view: View, release: Release): Promise<string[]> {
  const search = searchOf(view.operations);
  const { items } = (await ask(view, release, search, { limit: String(SLUGS) })) as { items: { slug: string }[] };
  return items.map(({ slug }) => slug);
}

async function ask(view: View, release: Release | undefined, operation: Operation, input: Raw): Promise<unknown> {
  const path = openPath(operation, release?.pack ?? null);
  const early = prerenderContext(view, { release, path, format: 'json' });
  // As a paid call: the requested values are public, and no part of the answer is marked as a preview.
  const ctx: Context = { ...early, visibility: 'full' };
  const rawInput = { ...(release ? { ds: release.pack.id } : {}), ...input };
  return (await operation.run(operation.parse(rawInput, ctx), ctx)).body;
}

/** Items of a list in an example: enough to show its shape. */
const SHOWN_ITEMS = 5;

/** An answer with shortened lists: map cells and histograms would be most of the document. */
export function shortenLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, SHOWN_ITEMS).map(shortenLists);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortenLists(member)]));
}

type Raw = Parameters<Operation['parse']>[0];

/** Path and query of a request. */
export function exampleUrl(operation: Operation, pack: Pack | null, input: Raw): string {
  const query = new URLSearchParams();
  let path = openPath(operation, pack);
  for (const [name, value] of Object.entries(input)) {
    const text = String(value);
    if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, text);
    else query.append(name, text);
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Runs every operation that has an example, for one dataset, or (undefined) the register. */
export async function examplesOf(view: View, release: Release | undefined): Promise<Map<string, ExampleAnswer>> {
  const pack = release?.pack ?? null;
  const slugs = release ? await slugsOf(view, release) : [];
  const examples = new Map<string, ExampleAnswer>();
  for (const operation of view.operations) {
    if (operation.rest.path.includes(':ds') !== (release !== undefined)) continue;
    // The register as a whole has no pack, and its examples do not use one.
    const input = operation.docs.example?.(pack as Pack, slugs) ?? null;
    if (input === null) continue;
    examples.set(operation.name, {
      question: `${operation.rest.method} ${decodeURIComponent(exampleUrl(operation, pack, input))}`,
      answer: shortenLists(await ask(view, release, operation, input)),
    });
    await nextTurn();
  }
  return examples;
}
