// GET /v1/{ds}/llms-full.txt: the public values of every record as one text, rendered and sent in pieces.

import type { StoredRecord } from '../../../data/model/record.ts';
import type { Position, SearchAnswer } from '../../../data/plan/plan.ts';
import { nextTurn } from '../../../data/plan/slices.ts';
import type { Release } from '../../../data/releases/release.ts';
import { recordUrl } from '../../../packs/define/links.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { bareUrl, blocks, escapeText, noticeBlocks } from '../../render/markdown.ts';
import { printWithUnit } from '../../render/print.ts';
import { aboutDataset, releaseOf, releaseValidators } from '../common/about.ts';
import { inputOf, NO_PARAMETERS } from '../common/inputs.ts';

/**
 * Records read and rendered between two turns of the event loop: about 2 ms. Slices of 200 take as long in
 * total, and delay other requests twice as long.
 */
const SLICE = 100;

const fileOf = (pack: Pack) => `v1/${pack.id}/llms-full.txt`;

/** The opening of the text: its content, and further links. */
export function fullTextHead({ pack, manifest }: Pick<Release, 'pack' | 'manifest'>, base_url: string): string {
  const { attribution, license } = aboutDataset(pack, base_url);
  return `${blocks(
    `# ${escapeText(pack.title)}: public values of all ${manifest.records} records`,
    `> ${escapeText(pack.description)}`,
    `Best records first. Guide: ${base_url}/v1/${pack.id}/llms.txt. License: ${escapeText(license)}. Cite: ${attribution}`,
    ...noticeBlocks(pack),
  )}\n`;
}

/** The members of a stored record that the text shows. */
type TextRecord = Pick<StoredRecord, 'id' | 'slug' | 'name' | 'attributes'>;

/** One record of the text: its name, its page, its public values. `stored` may contain paid values. */
export function fullTextRecord(stored: TextRecord, pack: Pack, base_url: string): string {
  const lines = pack.attributes.flatMap(({ name, unit, public: open }) => {
    const value = stored.attributes[name];
    const heading = name === 'name' && value === stored.name;
    return open && value !== undefined && !heading ? [`- ${name}: ${escapeText(printWithUnit(value, unit))}`] : [];
  });
  const page = bareUrl(recordUrl(base_url, pack.id, stored.slug)).text;
  return `## ${escapeText(stored.name)}\n${[`- ${page}`, ...lines].join('\n')}\n\n`;
}

/**
 * The start of the provenance in a stored text. Quotes inside values are escaped, so that no value contains
 * it.
 */
const PROVENANCE = ',"provenance":{';

/**
 * Parses a stored record up to its provenance, which is most of the text and two thirds of the parse time.
 */
export function parseTextRecord(body: string): TextRecord {
  const end = body.indexOf(PROVENANCE);
  try {
    const parsed = JSON.parse(`${body.slice(0, end)}}`) as Partial<TextRecord>;
    if (parsed.attributes !== undefined) return parsed as TextRecord;
  } catch {
    // An attribute has this name: the text was cut within the attributes.
  }
  return JSON.parse(body) as StoredRecord;
}

async function* fullText(release: Release, ctx: Context): AsyncGenerator<string> {
  const { pack, engine } = release;
  yield fullTextHead(release, ctx.base_url);
  const best = { where: [], sort: { key: 'quality', descending: true }, limit: SLICE, total: false };
  let after: Position | null = null;
  do {
    const page: SearchAnswer = await engine.search({ ...best, after }, { signal: ctx.signal });
    const bodies = await engine.bodies(page.ordinals, { signal: ctx.signal });
    yield bodies.map(({ body }) => fullTextRecord(parseTextRecord(body), pack, ctx.base_url)).join('');
    // The awaits above may all be microtasks, which let no other request run.
    await nextTurn(ctx);
    after = page.next;
  } while (after !== null);
}

export const dataset_full_text = operation<object, AsyncIterable<string>>({
  name: 'dataset_full_text',
  title: 'Public values of every record',
  description: 'One text with the public values of every record of the dataset; long. Prefer search for a question.',
  rest: {
    method: 'GET',
    path: '/v1/:ds/llms-full.txt',
    validators: releaseValidators,
    prerender: (pack) => (pack === null ? [] : [{ file: fileOf(pack), input: { ds: pack.id }, format: 'text' }]),
  },
  charge: { access: 'free' },
  docs: { group: 'dataset' },
  formats: ['text', 'markdown'],
  ...inputOf(NO_PARAMETERS),
  run: async (_input, ctx) => {
    const release = releaseOf(ctx);
    const file = { path: fileOf(release.pack), release };
    return { body: fullText(release, ctx), file };
  },
  // A stream is not rendered: the text is Markdown already.
  markdown: () => '',
});
