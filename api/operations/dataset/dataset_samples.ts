// GET /v1/{ds}/samples: fictional records in the shape of real ones, with every member and full provenance.

import { z } from 'zod';
import { recordId } from '../../../data/model/layout.ts';
import type { Provenance, PublicRecord, StoredRecord } from '../../../data/model/record.ts';
import { presentRecord } from '../../../data/queries/present.ts';
import type { Release } from '../../../data/releases/release.ts';
import type { Sample } from '../../../packs/define/model.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { blocks, escapeText } from '../../render/markdown.ts';
import { recordsMarkdown } from '../../render/record-template.ts';
import { type About, aboutDataset, releaseOf, releaseValidators } from '../common/about.ts';
import { WITHOUT_SOURCES } from '../common/brief.ts';
import { inputOf, NO_PARAMETERS } from '../common/inputs.ts';
import { ABOUT_OUTPUT, datasetFiles, RECORD_OUTPUT } from '../common/outputs.ts';

type Samples = { items: PublicRecord[] } & About;

/** A sample with the ids, slug and citation of a record collected with the release, marked as fictional. */
function sampleRecord(
  { identity, values, evidence }: Sample,
  { pack, manifest }: Release,
  base_url: string,
): StoredRecord {
  const attributes = { ...values };
  for (const name of pack.identity.attributes) attributes[name] ??= identity[name] ?? '';
  const filled = pack.attributes.filter(({ name }) => attributes[name] !== undefined);
  const weight = (all: typeof filled) => all.reduce((sum, attribute) => sum + attribute.weight, 0);
  const completeness = Math.round((weight(filled) / (weight(pack.attributes) || 1)) * 1000) / 1000;
  const provenance: Provenance = {
    source_url: `${base_url}/v1/${pack.id}/samples`,
    observed_at: manifest.last_collection,
    confidence: 1,
    evidence: evidence ?? 'Fictional sample',
    source: { kind: 'collector' },
  };
  return {
    id: recordId(pack.id, pack.identity.key(identity)),
    slug: pack.identity.slug(identity, attributes),
    name: pack.identity.name(identity, attributes),
    dataset: pack.id,
    updated_at: manifest.last_collection,
    attributes: Object.fromEntries(filled.map(({ name }) => [name, attributes[name]!])),
    provenance: Object.fromEntries(filled.map(({ name }) => [name, provenance])),
    quality_score: completeness,
    completeness,
    verified_owner: false,
  };
}

/** The pack's samples as records. */
export function sampleRecords(release: Release, ctx: Context): PublicRecord[] {
  const { pack } = release;
  const all = { now: ctx.now, base_url: ctx.base_url, visibility: 'full' } as const;
  return pack.samples.map((sample) => ({
    ...presentRecord(sampleRecord(sample, release, ctx.base_url), pack, all),
    sample: true,
  }));
}

export const dataset_samples = operation<object, Samples>({
  name: 'dataset_samples',
  title: 'Fictional sample records',
  description: 'Invented records, marked sample: true, that show every member a paid record has. Free.',
  rest: {
    method: 'GET',
    path: '/v1/:ds/samples',
    validators: releaseValidators,
    prerender: datasetFiles('samples'),
  },
  charge: { access: 'free' },
  tool: { long: { part: 'items', brief: [WITHOUT_SOURCES], more: 'All samples have the same shape.' } },
  docs: { group: 'dataset' },
  repeats: true,
  formats: ['json', 'markdown'],
  ...inputOf(NO_PARAMETERS),
  output: () => z.object({ items: z.array(RECORD_OUTPUT), ...ABOUT_OUTPUT }),
  run: async (_input, ctx) => {
    const release = releaseOf(ctx);
    return { body: { items: sampleRecords(release, ctx), ...aboutDataset(release.pack, ctx.base_url) } };
  },
  markdown: ({ items, attribution, license }, ctx) => {
    const { pack } = releaseOf(ctx);
    return blocks(
      `# Samples of ${escapeText(pack.title)}`,
      ...recordsMarkdown(items, pack),
      `${escapeText(attribution)} License: ${escapeText(license)}`,
    );
  },
});
