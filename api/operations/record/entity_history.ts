// GET /v1/{ds}/entities/{entity_id}/facts: every fact ever observed of a record, which of them are published,
// and why.
import { z } from 'zod';
import { type FactsInput, factsParameters } from '../../../data/input/history-parameters.ts';
import type { FactReason } from '../../../data/model/record.ts';
import { getFacts, type PublicFact } from '../../../data/queries/history.ts';
import { licenseText } from '../../../packs/define/links.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { cell, columnTitle } from '../../render/cells.ts';
import { blocks, escapeText, link, table } from '../../render/markdown.ts';
import { minute } from '../../render/times.ts';
import { type About, releaseOf } from '../common/about.ts';
import { inputOf, openNames } from '../common/inputs.ts';
import { historyValidators, loadRecord } from '../common/load-record.ts';
import { ABOUT_OUTPUT, address, share, time, VALUE } from '../common/outputs.ts';

type Facts = { entity_id: string; facts: PublicFact[] } & About;

/** The meaning of each reason, in a few words: a legend for readers and docs/api.md. */
const REASONS: Record<FactReason, string> = {
  only_source: 'no other source has a value',
  agreed: 'sources agree',
  more_trusted: 'its source is trusted more than one that differs',
  newer_reading: 'its source was read later than one that differs',
  earliest: 'it was the first',
  owner: 'the verified owner set this value',
  approved: 'an operator approved it',
  superseded: 'its own source has a newer value',
  less_trusted: 'a source that differs is trusted more',
  older_reading: 'a source that differs was read later',
  later: 'only the first counts',
  below_floor: 'too uncertain to be published',
  held: 'not published: too far from the value before, or a first value from its group, until a later reading, another source or an operator confirms it',
  not_listed: 'its source no longer lists the record',
  owner_overrides: 'the verified owner set another value',
  rejected: 'an operator rejected it',
  withdrawn: 'its source no longer has a value',
};

async function markdown(body: Facts, ctx: Context): Promise<string> {
  const { entity_id, facts, attribution, license } = body;
  const { pack } = releaseOf(ctx);
  // The JSON has the id alone.
  const { name, slug } = (await loadRecord(entity_id, ctx)).record(ctx);
  const titles = new Map(pack.attributes.map((attribute) => [attribute.name, columnTitle(attribute)]));
  const rows = facts.map((fact) => [
    titles.get(fact.attribute),
    fact.value === undefined ? 'withdrawn' : cell(fact.value),
    minute(fact.observed_at),
    minute(fact.confirmed_at),
    fact.source.kind === 'owner' ? 'owner' : link(fact.source.id, fact.source_url),
    fact.confidence,
    fact.won ? `published, ${fact.reason}` : fact.reason,
  ]);
  const reasons = [...new Set(facts.map(({ reason }) => reason))].sort();
  const columns = ['attribute', 'value', 'first observed', 'last confirmed', 'source', 'confidence', 'verdict'];
  return blocks(
    `# Facts of ${escapeText(name)} (${slug}), newest first`,
    facts.length > 0 ? table(columns, rows) : 'No fact matches.',
    reasons.length > 0 && `Verdicts: ${reasons.map((reason) => `${reason}: ${REASONS[reason]}`).join('; ')}.`,
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

export const entity_history = operation<FactsInput & { entity_id: string; names: string[] }, Facts>({
  name: 'entity_history',
  title: 'History of a record',
  description:
    'Every fact ever observed of a record, newest first: value, source, times, confidence, and why it is published or not.',
  rest: { method: 'GET', path: '/v1/:ds/entities/:entity_id/facts', entity: true, validators: historyValidators },
  charge: { access: 'paid', price: { of: 'facts' }, names: ({ names }) => names },
  tool: { long: { more: 'Narrow it with attribute or since.' } },
  docs: {
    group: 'records',
    tasks: [
      {
        want: 'every value that a field of one record ever had, from which source, and why it counts',
        query: 'attribute={field}',
      },
    ],
    example: (pack, [entity_id]) =>
      entity_id === undefined ? null : { entity_id, attribute: openNames(pack)[0] ?? '' },
  },
  repeats: true,
  formats: ['json', 'markdown'],
  ...inputOf(factsParameters),
  output: () =>
    z.object({
      entity_id: z.string(),
      facts: z
        .array(
          z.object({
            attribute: z.string(),
            value: VALUE.optional(),
            observed_at: time('When it was first observed'),
            confirmed_at: time('The newest reading with this value'),
            source_url: address('A page on which it can be checked'),
            confidence: share('Confidence in the value'),
            evidence: z.string(),
            source: z.object({ id: z.string(), kind: z.enum(['collector', 'owner']) }),
            won: z.boolean().describe('Whether this is the published value'),
            reason: z.enum(Object.keys(REASONS)).describe('Why it is, or is not'),
          }),
        )
        .describe('Newest first; a fact without a value: its source withdrew the value'),
      ...ABOUT_OUTPUT,
    }),
  run: async (input, ctx) => {
    const release = releaseOf(ctx);
    const record = (await loadRecord(input.entity_id, ctx)).record(ctx);
    const facts = await getFacts(release, record.id, input, { signal: ctx.signal });
    const about = { attribution: record.attribution, license: licenseText(release.pack) };
    return { body: { entity_id: record.id, facts, ...about }, records: 1, empty: facts.length === 0 };
  },
  markdown,
});
