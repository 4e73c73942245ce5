// GET /v1/{ds}/entities/{entity_id}/similar: the records whose words overlap most with those of one record.
import { z } from 'zod';
import { type SimilarInput, similarParameters } from '../../../data/input/analysis-parameters.ts';
import { getSimilar, type SimilarRecord } from '../../../data/queries/similar.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { blocks, listFooter } from '../../render/markdown.ts';
import { recordTable, selectedColumns } from '../../render/record-table.ts';
import { type About, aboutDataset, releaseOf } from '../common/about.ts';
import { inputOf, someFields } from '../common/inputs.ts';
import { listResult } from '../common/list-result.ts';
import { ABOUT_OUTPUT, RECORD_OUTPUT } from '../common/outputs.ts';

type Similar = { items: SimilarRecord[] } & About;

function markdown({ items, attribution, license }: Similar, ctx: Context, fields?: readonly string[] | null): string {
  const { pack } = releaseOf(ctx);
  return blocks(
    recordTable(items, pack, selectedColumns(fields, ctx.url)),
    items.length === 0
      ? 'No record that matches shares a word.'
      : 'score: share of all words of both records that both have.',
    listFooter(attribution, license),
  );
}

export const entity_similar = operation<SimilarInput, Similar>({
  name: 'entity_similar',
  title: 'Find similar records',
  description:
    'Records whose words overlap most with those of one record, best first, each with a score from 0 to 1; filters narrow the choice.',
  rest: { method: 'GET', path: '/v1/:ds/entities/:entity_id/similar', entity: true },
  charge: { access: 'paid', price: { of: 'search' }, names: ({ names }) => names },
  tool: {
    markdown: true,
    long: {
      part: 'items',
      shorter: (input, limit) => ({ ...input, limit }),
      more: 'Name fewer fields to get them all.',
      instead: 'Request fewer fields, or fewer records with limit.',
    },
  },
  docs: {
    group: 'records',
    tasks: [{ want: 'the records most similar to one with a given slug', query: 'limit={n}&fields={fields}' }],
    // Paid texts influence the order, and published examples must not depend on them.
    example: (pack, [entity_id]) =>
      entity_id === undefined ||
      pack.attributes.some((attribute) => !attribute.public && pack.serving.similar_by.includes(attribute.name))
        ? null
        : { entity_id, limit: '1', fields: someFields(pack) },
  },
  repeats: true,
  formats: ['json', 'markdown'],
  ...inputOf(similarParameters),
  output: () =>
    z.object({ items: z.array(RECORD_OUTPUT).describe('Best first, each with its score'), ...ABOUT_OUTPUT }),
  run: async (input, ctx) => {
    const release = releaseOf(ctx);
    const page = await getSimilar(release, input.entity_id, input, ctx);
    return listResult<Similar>(page, aboutDataset(release.pack, ctx.base_url), ctx);
  },
  markdown,
});
