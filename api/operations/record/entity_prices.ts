// GET /v1/{ds}/entities/{entity_id}/prices: the price attributes of a record with their provenance.
import { z } from 'zod';

import { pricesParameters } from '../../../data/input/history-parameters.ts';
import { getRecordAsOf } from '../../../data/queries/as-of.ts';
import { getPrices, type PublicPrice } from '../../../data/queries/history.ts';
import { licenseText } from '../../../packs/define/links.ts';
import { operation } from '../../contract/operation.ts';
import { cell } from '../../render/cells.ts';
import { bareUrl, blocks, escapeText, table } from '../../render/markdown.ts';
import { markedCell, statusLegend } from '../../render/status-mark.ts';
import { minute } from '../../render/times.ts';
import { type About, releaseOf } from '../common/about.ts';
import { inputOf, openNames } from '../common/inputs.ts';
import { loadRecord, momentValidators } from '../common/load-record.ts';
import { ABOUT_OUTPUT, address, STATUS_OUTPUT, share, time, VALUE } from '../common/outputs.ts';

type Prices = { entity_id: string; prices: PublicPrice[] } & About;

export const entity_prices = operation<{ entity_id: string; as_of: number | null }, Prices>({
  name: 'entity_prices',
  title: 'Prices of a record',
  description:
    'Every price of a record with unit, currency, source, time and confidence. Free for a dataset without prices.',
  rest: { method: 'GET', path: '/v1/:ds/entities/:entity_id/prices', entity: true, validators: momentValidators },
  charge: { access: 'paid', price: { of: 'prices', free: ({ price_attributes }) => price_attributes.length === 0 } },
  tool: { per_dataset: { suffix: 'prices' } },
  docs: {
    group: 'records',
    answerable: ({ price_attributes }) => price_attributes.length > 0,
    tasks: [{ want: 'all prices of one record with a given slug' }],
    example: (pack, [entity_id]) =>
      entity_id !== undefined && pack.price_attributes.every((name) => openNames(pack).includes(name))
        ? { entity_id }
        : null,
  },
  formats: ['json', 'markdown'],
  ...inputOf(pricesParameters),
  output: () =>
    z.object({
      entity_id: z.string(),
      prices: z.array(
        z.object({
          attribute: z.string(),
          value: VALUE,
          currency: z.string().nullable(),
          unit: z.string().nullable(),
          source_url: address('A page on which it can be checked'),
          observed_at: time('When the source last had this value'),
          confidence: share('Confidence in the value'),
          evidence: z.string(),
          status: STATUS_OUTPUT.optional(),
        }),
      ),
      ...ABOUT_OUTPUT,
    }),
  run: async ({ entity_id, as_of }, ctx) => {
    const release = releaseOf(ctx);
    const { pack } = release;
    const record =
      as_of === null
        ? (await loadRecord(entity_id, ctx)).record(ctx)
        : await getRecordAsOf(release, entity_id, { fields: null, at: as_of }, ctx);
    const about = { attribution: record.attribution, license: licenseText(pack) };
    const body = { entity_id: record.id, prices: getPrices(record, pack), ...about };
    return { body, records: 1, empty: body.prices.length === 0 };
  },
  markdown: ({ entity_id, prices, attribution, license }) =>
    blocks(
      prices.length === 0
        ? `${entity_id} has no prices.`
        : table(
            ['price', 'value', 'unit', 'observed', 'confidence', 'source'],
            prices.map(({ attribute, value, unit, observed_at, confidence, source_url, ...price }) => [
              attribute,
              markedCell(cell(value), price),
              unit,
              minute(observed_at),
              confidence,
              bareUrl(source_url),
            ]),
          ),
      statusLegend(prices),
      `${escapeText(attribution)} License: ${escapeText(license)}`,
    ),
});
