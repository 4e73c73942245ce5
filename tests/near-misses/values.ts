// Near misses of values: of sort, fields, limit, place, ids, dates, booleans, numbers, and of attribute
// values.
import { pickOne, type Random } from '../support/random-records.ts';
import { misspelt, onlyOne } from './foreign-names.ts';
import { type Base, bases, isPlace, type MissRule, miss, type NearMiss, numeric } from './model.ts';
import type { DatasetInfo } from './world.ts';

type Draft = [operation: string, name: string, wrong: string, right: string, names?: string[]];

const made = (rule: string, dataset: DatasetInfo, drafts: Draft[]): NearMiss[] =>
  drafts.map(([operation, name, wrong, right, names = [right]]) =>
    miss(
      rule,
      dataset,
      bases(dataset)[operation] as Base,
      [
        [name, wrong],
        [name, right],
      ],
      names,
    ),
  );

export const orders: MissRule = (dataset) => {
  const [number = 'name'] = numeric(dataset).map(({ name }) => name);
  return made('value of sort', dataset, [
    ['entity_search', 'sort', `name,${number}`, 'name', ['one|single', 'name|sort=name']],
    ['entity_search', 'sort', `${number} desc`, `-${number}`],
    ['entity_search', 'sort', `${number}:desc`, `-${number}`],
    ['entity_search', 'sort', `${number}:asc`, number],
    ['entity_search', 'sort', `${number}_desc`, `-${number}`],
    ['entity_search', 'sort', `${number}.desc`, `-${number}`],
    ['entity_search', 'sort', `desc(${number})`, `-${number}`],
    ['entity_search', 'sort', `+${number}`, number],
    ['entity_search', 'sort', 'NAME', 'name'],
    ['entity_search', 'sort', 'updated_at', 'updated'],
    ['entity_search', 'sort', '-updated_at', '-updated'],
    ['entity_search', 'sort', 'quality_score', 'quality'],
    ['entity_search', 'sort', 'nmae', 'name'],
    ['entity_search', 'sort', 'qualty', 'quality'],
  ]);
};

export const selections: MissRule = (dataset) => {
  const always = ['id', 'slug', 'url', 'updated_at', 'provenance', 'quality_score'].map(
    (name): Draft => ['entity_search', 'fields', name, '', ['always']],
  );
  const group = dataset.attributes.find(({ name }) => name.includes('.'))?.name.split('.')[0];
  const members = dataset.attributes.filter(({ name }) => name.startsWith(`${group}.`)).map(({ name }) => name);
  const grouped: Draft[] =
    group === undefined
      ? []
      : [
          ['dataset_stats', 'attribute', group, members[0]!],
          ['dataset_timeseries', 'attribute', group, members[0]!],
          ['entity_history', 'attribute', group, members[0]!],
          ['dataset_changelog', 'attribute', group, members[0]!],
          ['entity_compare', 'attribute', group, dataset.columns.find((name) => name.startsWith(`${group}.`))!],
        ];
  return made('value of fields or attribute', dataset, [
    ...always,
    ...grouped,
    ['entity_search', 'fields', '*', '', ['leave out|leave it out|omit|without fields']],
    ['entity_get', 'fields', 'all', '', ['leave out|leave it out|omit|without fields']],
    ['entity_get', 'fields', 'slug', '', ['always']],
    ['entity_batch', 'fields', 'id', '', ['always']],
    ['entity_search', 'fields', 'nmae', 'name'],
    ['entity_get', 'fields', 'attributes.name', 'name'],
    ['entity_search', 'fields', 'name;id', 'name'],
    ['dataset_facets', 'by', 'nmae', 'name'],
    ['entity_similar', 'fields', 'Name', 'name'],
    ['entity_search', 'fields', '["name"]', 'name'],
  ]);
};

export const pages: MissRule = (dataset) =>
  made('value of limit or another number', dataset, [
    ['entity_search', 'limit', 'all', '100', ['100', 'cursor']],
    ['entity_search', 'limit', '0', '1', ['1']],
    ['entity_search', 'limit', '-1', '1', ['1']],
    ['entity_search', 'limit', '500', '100', ['100']],
    ['entity_search', 'limit', '5000', '100', ['1000|100']],
    ['entity_search', 'limit', 'ten', '10', ['whole number', '100|1000']],
    ['entity_search', 'limit', '10.5', '10', ['whole number']],
    ['dataset_facets', 'limit', '500', '200', ['200']],
    ['dataset_facets', 'limit', 'all', '200', ['200']],
    ['entity_similar', 'limit', '500', '100', ['100']],
    ['dataset_changelog', 'days', '400', '365', ['365']],
    ['dataset_changelog', 'days', '30d', '30', ['30']],
    ['dataset_changelog', 'days', '1 year', '365', ['whole number', '365']],
    ['dataset_timeseries', 'days', '0', '1', ['1']],
    ['dataset_timeseries', 'days', 'all', '366', ['366']],
    ['entity_search', 'min_quality', '80', '0.8', ['1']],
    ['entity_search', 'min_quality', '80%', '0.8', ['0.8|0 to 1|0 and 1']],
    ['entity_search', 'min_quality', 'high', '0.8', ['number']],
  ]);

export const wordMisses: MissRule = (dataset) =>
  made('value of a closed list', dataset, [
    ['dataset_timeseries', 'step', 'daily', 'day'],
    ['dataset_timeseries', 'step', 'weekly', 'week'],
    ['dataset_timeseries', 'step', '1d', 'day'],
    ['dataset_timeseries', 'step', 'weeks', 'week'],
    ['dataset_timeseries', 'step', 'month', 'week'],
    ['entity_search', 'format', 'markdown', 'md'],
    ['entity_search', 'format', 'jsonl', 'ndjson'],
    ['entity_search', 'format', 'xlsx', 'csv'],
    ['entity_get', 'format', 'text/markdown', 'md'],
    ['dataset_export', 'format', 'ndjson', 'jsonl'],
    ['dataset_changelog', 'type', 'change', 'changed'],
    ['dataset_changelog', 'type', 'new', 'added'],
    ['dataset_changelog', 'direction', 'up', 'rise'],
    ['dataset_changelog', 'direction', 'decrease', 'fall'],
    ['entity_search', 'total', 'yes', 'true'],
    ['entity_search', 'total', '1', 'true'],
    ['entity_search', 'total', 'on', 'true'],
    ['entity_search', 'total', 'exact', 'true'],
  ]);

export const times: MissRule = (dataset) => {
  const since = 'dataset_changes entity_history'.split(' ').map((op) => [op, 'since'] as const);
  const all = [['entity_search', 'updated_since'] as const, ...since, ['entity_get', 'as_of'] as const];
  const forms: [string, string][] = [
    ['2026/09/20', '2026-09-20'],
    ['20.09.2026', '2026-09-20'],
    ['09/20/2026', '2026-09-20'],
    ['20260920', '2026-09-20'],
    ['1758326400', '2025-09-20'],
    ['1758326400000', '2025-09-20'],
    ['2026-9-5', '2026-09-05'],
    ['Sep 20, 2026', '2026-09-20'],
    ['20 September 2026', '2026-09-20'],
  ];
  const loose = ['yesterday', '7d', 'last week', '2026-09', '-30'];
  return made('value of a time', dataset, [
    ...all.flatMap(([operation, name]) =>
      forms.map(([wrong, right]): Draft => [operation, name, wrong, right, [`${right}|${right}T00:00:00Z`]]),
    ),
    ...loose.map((wrong): Draft => ['entity_search', 'updated_since', wrong, '2026-09-20', ['ISO 8601']]),
  ]);
};

export const places: MissRule = (dataset) =>
  !isPlace(dataset)
    ? []
    : made('value of near or bbox', dataset, [
        ['entity_search', 'near', '52.5 13.4 25', '52.5,13.4,25'],
        ['entity_search', 'near', '52.5;13.4;25', '52.5,13.4,25'],
        ['entity_search', 'near', '52.5,13.4,25km', '52.5,13.4,25'],
        ['entity_search', 'near', '52.5,13.4', '52.5,13.4,25', ['add the radius|radius is missing']],
        ['entity_search', 'near', '91,0,10', '90,0,10', ['latitude', '-90 and 90|-90 to 90']],
        ['entity_search', 'near', '0,181,10', '0,180,10', ['longitude', '-180 and 180|-180 to 180']],
        ['entity_search', 'near', '139.69,35.68,25', '35.68,139.69,25'],
        ['entity_search', 'near', '52.5,13.4,-5', '52.5,13.4,5', ['radius|kilometres|distance', '0']],
        ['entity_search', 'near', '(52.5,13.4),25', '52.5,13.4,25'],
        ['entity_search', 'near', '52.5N,13.4E,25', '52.5,13.4,25'],
        ['entity_search', 'near', '-52.5,13.4,10mi', '-52.5,13.4,16', ['kilometres|km']],
        ['dataset_facets', 'near', '52.5 13.4 25', '52.5,13.4,25'],
        ['entity_search', 'near', 'Berlin', '52.5,13.4,25', ['lat,lng,km']],
        ['entity_search', 'bbox', '5.9 45.8 10.5 47.8', '5.9,45.8,10.5,47.8'],
        ['dataset_facets', 'bbox', '[5.9,45.8,10.5,47.8]', '5.9,45.8,10.5,47.8'],
        ['entity_search', 'bbox', '5.9,47.8,10.5,45.8', '5.9,45.8,10.5,47.8'],
        ['entity_search', 'bbox', '35.5,139.6,35.8,139.9', '139.6,35.5,139.9,35.8'],
        ['entity_search', 'bbox', 'Europe', '-25,34,45,72', ['west,south,east,north']],
      ]);

export const ids: MissRule = ({ slugs: [one = '', two = ''], ...rest }) => {
  const dataset = { slugs: [one, two], ...rest };
  const text = JSON.stringify([one, two]);
  return made('value of ids', dataset, [
    ['entity_batch', 'ids', text, `${one},${two}`],
    ['entity_search', 'ids', text, `${one},${two}`],
    ['entity_compare', 'ids', text, `${one},${two}`],
    ['entity_search', 'ids', `${one},no-such-record`, one, ['no-such-record']],
    ['entity_search', 'ids', 'no-such-record', one, ['no-such-record']],
    ['entity_batch', 'ids', `${one},no-such-record`, one, ['no-such-record']],
  ]);
};

/** Numbers with separators, units and short forms, and yes and no. */
export const scalars: MissRule = (dataset, next) => {
  const flags = dataset.attributes.filter(({ type, filterable }) => type === 'boolean' && filterable);
  const numbers = numeric(dataset).filter(({ filterable }) => filterable);
  const first = pickOne(next, ['entity_search', 'dataset_facets', 'dataset_stats']);
  return made('value of a filter', dataset, [
    ...flags.flatMap(({ name }): Draft[] => [
      [first, name, 'yes', 'true'],
      [first, name, '1', 'true'],
      [first, name, '0', 'false'],
      [first, name, 'off', 'false'],
      ['entity_search', `has_${name}`, 'y', 'true'],
    ]),
    ...numbers.slice(0, 5).flatMap(({ name, unit }): Draft[] => [
      ['entity_search', `min_${name}`, '1,000', '1000'],
      ['entity_search', `min_${name}`, '1k', '1000'],
      // `m` is a unit of lengths and times.
      ...(unit === 'm' || unit === 'ft' || unit === 'minutes'
        ? []
        : [['entity_search', `max_${name}`, '2M', '2000000'] as Draft]),
      [first, `max_${name}`, '<=5', '5'],
      ...(unit === null || unit.includes('/') ? [] : [[first, `min_${name}`, `300 ${unit}`, '300'] as Draft]),
      ...(unit?.includes('/') ? [[first, `max_${name}`, '$5', '5'] as Draft] : []),
    ]),
  ]);
};

/** Existing values with one or two typing errors, in other places or in other words. */
export const misspeltValues: MissRule = (dataset, next) =>
  Object.entries(dataset.values).flatMap(([name, values]) =>
    values
      .filter((value) => value.length >= 5 && /^[\p{L} _-]+$/u.test(value))
      .slice(0, 4)
      .flatMap((value) => {
        const wrong = misspelt(value.toLowerCase(), next);
        const folded = values.map((each) => each.toLowerCase());
        if (folded.includes(wrong) || !onlyOne(wrong, value.toLowerCase(), folded)) return [];
        return made('misspelt value', dataset, [['entity_search', name, wrong, value, [value]]]);
      }),
  );

/** `name=wrong>right`, for datasets with the attribute. */
const MEANT: Record<string, string> = {
  airports:
    'country=UK>GB country=USA>US country=United States>US|country_name=united states country=Germany>DE country=Deutschland>DE country=Schweiz>CH country=CHE>CH country=Holland>NL country=España>ES country=日本>JP country=Россия>RU country_name=USA>United States country_name=UK>United Kingdom country_name=Deutschland>Germany country_name=DE>Germany country_name=Frankreich>France type=large>large_airport type=helipad>heliport|q=helipad type=airport>large_airport continent=Europe>EU status=active>listed timezone=Berlin>Europe/Berlin timezone=Europe/Zürich2>Europe/Zurich name=Geneva>q=geneva|Lake Geneva Municipal Airport iata=LSZH>icao=lszh|code=lszh type=large-airport>large_airport continent=europe>EU timezone=europe/berln>Europe/Berlin',
  places:
    'country=UK>GB country=USA>US country=Germany>DE country=DEU>DE country=Deutschland>DE country=Suisse>CH country=Türkei>TR country_name=USA>United States country_name=Great Britain>United Kingdom country_name=Allemagne>Germany admin1=Bayern&country=DE>Bavaria admin1=Bavari>Bavaria feature=capitol>capital',
  'llm-models':
    'vendor=xai>x-ai vendor=moonshot>moonshotai vendor=OpenAI Inc>openai provider=open-ai>openai vendor=mistralai>mistral vendor=anthropics>anthropic kind=text>chat|input_modalities=text kind=embeddings>embedding status=active>listed model_id=gpt-4o-minni>gpt-4o-mini input_modalities=images>image provider=vercel_ai_gateway>vercel-ai-gateway vendor=deep-seek>deepseek',
  tools:
    'kind=saws>saw kind=sow>saw kind=Drills>drill maker=Nord-werk>Nordwerk status=list>listed materials=steal>steel',
  harbours: 'coast=dateline>date line coast=northern>north coast=sout>south',
};

export const meantValues: MissRule = (dataset) =>
  (MEANT[dataset.id] ?? '')
    .split(/ (?=[a-z_0-9]+=)/)
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [question = '', right = ''] = line.split('>');
      const [first = '', ...others] = question.split('&');
      const [name = '', wrong = ''] = first.split('=');
      if (!dataset.attributes.some((each) => each.name === name)) return [];
      const base = bases(dataset)['entity_search'] as Base;
      const required = others.map((each) => each.split('=') as [string, string]);
      const meant = right.split('|')[0]!.replace(/^.*=/, '');
      return [
        miss(
          'value in other words',
          dataset,
          { ...base, required },
          [
            [name, wrong],
            [name, meant],
          ],
          [right],
        ),
      ];
    });

/** Words of names with a typing error. */
export const misspeltWords: MissRule = (dataset, next: Random) =>
  (dataset.values['name'] ?? [])
    .flatMap((name) => name.match(/\p{Script=Latin}{6,}/gu) ?? [])
    .slice(0, 6)
    .flatMap((word) => {
      const wrong = misspelt(word.toLowerCase(), next);
      if (wrong.startsWith(word.toLowerCase()) || word.toLowerCase().startsWith(wrong)) return [];
      return made('misspelt word of q', dataset, [['entity_search', 'q', wrong, word, [word.toLowerCase()]]]);
    });
