// GET /v1/datasets: the catalogue of datasets with links, tools and prices.

import { z } from 'zod';
import { type Release, releaseTag } from '../../../data/releases/release.ts';
import { datasetUrl, licenseText } from '../../../packs/define/links.ts';
import type { PricedOperation } from '../../../packs/define/model.ts';
import { type Context, type Operation, operation, type RegisterFacts } from '../../contract/operation.ts';
import { amounts, priceCondition, priceNames } from '../../contract/pricing.ts';
import { bareUrl, blocks, escapeText, link, table } from '../../render/markdown.ts';
import { callable, ownToolNames } from '../../render/tools.ts';
import { aboutRegister, packVersion } from '../common/about.ts';
import { omitMembers } from '../common/brief.ts';
import { inputOf, NO_PARAMETERS } from '../common/inputs.ts';
import { ABOUT_OUTPUT, count, euro, time } from '../common/outputs.ts';

const output = () =>
  z.object({
    datasets: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        description: z.string(),
        license: z.string(),
        records: count('Records of the current release'),
        updated_at: time('When this release was made'),
        links: z.record(z.string(), z.string()).describe('Address of each operation by its short name'),
        tools: z.array(z.string()).describe('Operations that are tools of agents too'),
        prices: z
          .record(
            z.string(),
            z.object({
              eur: euro('EUR a call'),
              usd: z.number().describe('The same in USD'),
              condition: z.string().describe('Which calls have this price, where not all of them').optional(),
            }),
          )
          .describe('Prices of a call'),
      }),
    ),
    ...ABOUT_OUTPUT,
  });
type Datasets = z.infer<ReturnType<typeof output>>;
type Entry = Datasets['datasets'][number];

/** URL of an operation for a dataset; path parameters that are not filled in stay as `{name}`. */
function addressOf({ rest }: Operation, base_url: string, dataset: string): string {
  return base_url + rest.path.replace(':ds', dataset).replace(/:(\w+)/g, '{$1}');
}

/** Name of an operation in the `links` of a dataset: its name without the noun in front. */
export function shortName(name: string): string {
  return name.replace(/^(dataset|entity)_/, '');
}

/**
 * Prices of a dataset by the names in the pack, for the operations of the table; then those that only some
 * calls have.
 */
export function pricesOf(
  { pack }: Pick<Release, 'pack'>,
  register: Pick<RegisterFacts, 'operations' | 'eur_usd'>,
): Entry['prices'] {
  const price = (of: PricedOperation) => amounts(pack, of, register.eur_usd);
  const conditional = conditions(register).map(([name, of, condition]) => [name, { ...price(of), condition }]);
  return Object.fromEntries([...priceNames(register.operations).map((of) => [of, price(of)]), ...conditional]);
}

/** Operations with a price for some calls only: short name, price name, and condition. */
const conditions = ({ operations }: Pick<RegisterFacts, 'operations'>): [string, PricedOperation, string][] =>
  operations.flatMap((row) => {
    const condition = priceCondition(row);
    return row.charge.price && condition !== null ? [[shortName(row.name), row.charge.price.of, condition]] : [];
  });

function entry(release: Release, ctx: Context): Entry {
  const { pack, manifest } = release;
  const datasetOperations = ctx.register.operations.filter(({ rest }) => rest.path.includes(':ds'));
  const linked = datasetOperations.filter(({ rest }) => rest.method === 'GET');
  const links = linked.map((operation) => [shortName(operation.name), addressOf(operation, ctx.base_url, pack.id)]);
  return {
    id: pack.id,
    title: pack.title,
    description: pack.description,
    license: licenseText(pack),
    records: manifest.records,
    updated_at: manifest.created_at,
    links: { page: datasetUrl(ctx.base_url, pack.id), ...Object.fromEntries(links) },
    tools: [...callable(datasetOperations).map(({ name }) => name), ...ownToolNames(datasetOperations, pack.id)],
    prices: pricesOf(release, ctx.register),
  };
}

function markdown({ datasets, attribution, license }: Datasets, ctx: Context): string {
  const rows = datasets.map(({ id, title, records, updated_at, prices, license }) => [
    link(id, `${ctx.base_url}/v1/${id}/llms.txt`),
    title,
    records,
    updated_at.slice(0, 10),
    Object.entries(prices)
      .flatMap(([name, { eur, condition }]) => (condition === undefined ? [`${name} ${eur}`] : []))
      .join(', '),
    license,
  ]);
  return blocks(
    '# Datasets',
    table(['dataset (its guide)', 'title', 'records', 'updated', 'prices in EUR a call', 'license'], rows),
    conditions(ctx.register)
      .map(([name, , condition]) => `${name}: ${condition}.`)
      .join(' '),
    ...datasets.map(({ id, description }) => `**${escapeText(id)}**: ${escapeText(description)}`),
    `${escapeText(license)} ${bareUrl(attribution.split(' ').at(-1) ?? '')}`,
  );
}

export const datasets_list = operation<object, Datasets>({
  name: 'datasets_list',
  title: 'List the datasets',
  description: 'Every dataset of the register with its size, licence, links, tools and prices. Start here.',
  rest: {
    method: 'GET',
    path: '/v1/datasets',
    validators: async (_raw, { register: { releases, eur_usd } }) => ({
      version: [
        eur_usd,
        ...releases.map((release) => `${release.pack.id} ${releaseTag(release)} ${packVersion(release.pack)}`),
      ].join('\n'),
    }),
    prerender: (pack) =>
      pack === null
        ? [
            { file: 'v1/datasets', input: {}, format: 'json' },
            { file: 'v1/datasets.md', input: {}, format: 'markdown' },
          ]
        : [],
  },
  charge: { access: 'free' },
  tool: {
    core: true,
    long: {
      part: 'datasets',
      brief: [
        omitMembers('links', 'datasets', ['links']),
        omitMembers('tools and prices', 'datasets', ['tools', 'prices']),
        omitMembers('descriptions', 'datasets', ['description']),
      ],
      more: 'dataset_guide has the rest of one dataset.',
    },
  },
  docs: { group: 'register', example: () => ({}) },
  formats: ['json', 'markdown'],
  ...inputOf(NO_PARAMETERS),
  output,
  run: async (_input, ctx) => ({
    body: { datasets: ctx.register.releases.map((release) => entry(release, ctx)), ...aboutRegister(ctx.base_url) },
  }),
  markdown,
});
