// GET /v1/search and GET /v1/fetch: records of all datasets by name or key, and their public pages. As tools they have
// the parameters and answers that clients of deep research expect of `search` and `fetch`.
import { z } from 'zod';
import { single } from '../../../data/input/filters.ts';
import { type Parameter, parameters } from '../../../data/input/parameters.ts';
import { BOUNDS, parseList, parseText, printable } from '../../../data/input/parse-values.ts';
import { integerParameter, invalid, listSchema, representation } from '../../../data/input/rows.ts';
import { DataError, validationError } from '../../../data/model/errors.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { unknownEntity } from '../../../data/queries/nearest.ts';
import { searchAll } from '../../../data/queries/search-all.ts';
import type { Release } from '../../../data/releases/release.ts';
import { attributionFor, datasetUrl, licenseText, recordUrl } from '../../../packs/define/links.ts';
import { words } from '../../../packs/define/text.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { recordPage } from '../../pages/record-markdown.ts';
import { blocks, escapeText, link, table } from '../../render/markdown.ts';
import { aboutDataset, aboutRegister } from '../common/about.ts';
import { inputOf } from '../common/inputs.ts';
import { ABOUT_OUTPUT, address, time } from '../common/outputs.ts';
import { datasetGuide } from './dataset_guide.ts';

const searchOutput = () =>
  z.object({
    items: z
      .array(
        z.object({
          dataset: z.string(),
          id: z.string(),
          slug: z.string(),
          name: z.string(),
          url: address('Public page'),
        }),
      )
      .optional(),
    results: z
      .array(z.object({ id: z.string().describe('For fetch'), title: z.string(), url: address('Public page') }))
      .optional(),
    ...ABOUT_OUTPUT,
  });
type Answer = z.infer<ReturnType<typeof searchOutput>>;

interface SearchInput {
  q: string;
  datasets: string[] | null;
  limit: number;
  /** Called as clients of deep research call the tool `search`: with `query`, for `results`. */
  research: boolean;
}

/** Most matches of a call. */
const MOST = 50;

const text = (description: string): Parameter<string> => ({
  schema: () => z.string().min(1).max(BOUNDS.q).describe(description),
  parse: (values, { name }) => {
    const value = parseText(name, single(name, values), BOUNDS.q);
    if (words(value).length === 0)
      throw validationError(name, 'must contain a word', 'string_too_short', printable(value));
    return value;
  },
});

const DATASETS: Parameter<string[] | null> = {
  schema: () => listSchema('Only these datasets').optional(),
  parse: (values, { name }) => parseList(name, values),
  fallback: null,
};

const LIMIT = integerParameter('Matches to answer, the best first', { min: 1, max: MOST, fallback: 10 });

const byUrl = inputOf(
  parameters({
    q: text('Words of a name, or a key'),
    datasets: DATASETS,
    limit: LIMIT,
    format: representation('json', 'md'),
  }),
);
const byQuery = inputOf(
  parameters({ query: text('Words, or a code such as ZRH'), format: representation('json', 'md') }),
);

/** The releases of the datasets; throws 400 for an unknown one. */
function releasesOf(datasets: string[] | null, { register: { releases } }: Context): Release[] {
  const byId = new Map(releases.map((release) => [release.pack.id, release]));
  const unknown = datasets?.find((id) => !byId.has(id));
  if (unknown !== undefined)
    throw invalid(`datasets: there is no dataset "${printable(unknown)}"; there are ${[...byId.keys()].join(', ')}.`);
  return (datasets ?? [...byId.keys()]).map((id) => byId.get(id)!);
}

export const register_search = operation<SearchInput, Answer>({
  name: 'search',
  title: 'Search all datasets',
  description: 'Finds records of every dataset by name or key, and datasets. Free.',
  rest: { method: 'GET', path: '/v1/search' },
  charge: { access: 'free' },
  tool: { core: true, long: { part: 'results', more: 'entity_search finds more in one dataset, with filters.' } },
  docs: { group: 'register' },
  formats: ['json', 'markdown'],
  input: (pack, as) => (as === 'tool' ? byQuery : byUrl).input(pack, as),
  parse: (raw, ctx) =>
    raw['query'] === undefined
      ? { ...byUrl.parse(raw, ctx), research: false }
      : { q: byQuery.parse(raw, ctx).query, datasets: null, limit: 10, research: true },
  output: searchOutput,
  run: async ({ q, datasets, limit, research }, ctx) => {
    const matches = await searchAll(releasesOf(datasets, ctx), q, limit, ctx);
    const items = matches.map(({ pack, id, slug, name }) => {
      const url = slug === null ? `${datasetUrl(ctx.base_url, pack.id)}/` : recordUrl(ctx.base_url, pack.id, slug);
      return { dataset: pack.id, id, slug: slug ?? pack.id, name, url };
    });
    const about = aboutRegister(ctx.base_url);
    if (!research) return { body: { items, ...about } };
    const results = items.map(({ dataset, id, name, url }) => ({
      id: id === dataset ? dataset : `${dataset}/${id}`,
      title: name,
      url,
    }));
    return { body: { results, ...about } };
  },
  markdown: ({ items = [], results = [], attribution, license }) => {
    const rows = [
      ...items.map(({ dataset, slug, name, url }) => [link(name, url), `${dataset}/${slug}`]),
      ...results.map(({ id, title, url }) => [link(title, url), id]),
    ];
    return blocks(
      rows.length > 0 && table(['name', 'dataset and record'], rows),
      `${rows.length} ${rows.length === 1 ? 'match' : 'matches'}.`,
      `${escapeText(attribution)} License: ${escapeText(license)}`,
    );
  },
});

const fetchOutput = () =>
  z.object({
    id: z.string(),
    title: z.string(),
    text: z.string().describe('Markdown'),
    url: address('The page for people'),
    metadata: z.object({ dataset: z.string(), ...ABOUT_OUTPUT, updated_at: time('Last change') }),
    ...ABOUT_OUTPUT,
  });
type Fetched = z.infer<ReturnType<typeof fetchOutput>>;

/** The answer about a whole dataset: its guide. */
async function fetchDataset(release: Release, ctx: Context): Promise<Fetched> {
  const { pack, manifest } = release;
  const about = aboutDataset(pack, ctx.base_url);
  const metadata = { dataset: pack.id, ...about, updated_at: manifest.created_at };
  return {
    id: pack.id,
    title: pack.title,
    text: await datasetGuide(release, ctx),
    url: `${datasetUrl(ctx.base_url, pack.id)}/`,
    metadata,
    ...about,
  };
}

export const register_fetch = operation<{ id: string }, Fetched>({
  name: 'fetch',
  title: 'Fetch a public page',
  description: 'The public page of a record, by an id of search. Free.',
  rest: { method: 'GET', path: '/v1/fetch' },
  charge: { access: 'free' },
  tool: { core: true, long: { part: 'text', more: 'entity_get with fields answers single values.' } },
  docs: { group: 'register', errors: ['unknown_dataset', 'unknown_entity'] },
  formats: ['json', 'markdown'],
  ...inputOf(parameters({ id: text('<dataset>/<id, slug or key>'), format: representation('json', 'md') })),
  output: fetchOutput,
  run: async ({ id: path }, ctx) => {
    const [dataset = '', ...rest] = path.split('/');
    const release = ctx.register.releases.find(({ pack }) => pack.id === dataset.toLowerCase());
    if (release === undefined) throw new DataError('unknown_dataset', `There is no dataset "${printable(dataset)}".`);
    const { engine, pack } = release;
    const ref = rest.join('/');
    if (ref === '') return { body: await fetchDataset(release, ctx) };
    const [ordinal] = await engine.resolve([ref.toLowerCase()], ctx);
    if (ordinal === null || ordinal === undefined) throw await unknownEntity(release, ref, ctx);
    const [stored] = await engine.bodies([ordinal], ctx);
    const record = JSON.parse(stored!.body) as StoredRecord;
    const { id, slug, name, updated_at } = record;
    const about = { license: licenseText(pack), attribution: attributionFor(pack, ctx.base_url, slug, name) };
    const url = recordUrl(ctx.base_url, pack.id, slug);
    const metadata = { dataset: pack.id, ...about, updated_at };
    const page = { id: `${pack.id}/${id}`, title: name, text: recordPage(record, pack, ctx.base_url), url, metadata };
    return { body: { ...page, ...about }, last_modified: updated_at };
  },
  markdown: ({ text: page }) => page,
});
