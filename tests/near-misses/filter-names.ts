// Near misses of filters: comparisons in the style of other APIs, other spellings and synonyms of attribute
// names.
import { pickOne } from '../support/random-records.ts';
import { misspelt, onlyOne } from './foreign-names.ts';
import { type Base, bases, type CallQuery, type MissRule, miss, type NearMiss } from './model.ts';
import type { DatasetInfo, FilterInfo } from './world.ts';

const FILTERED = [
  'entity_search',
  'dataset_facets',
  'entity_similar',
  'dataset_stats',
  'entity_compare',
  'dataset_changelog',
];

const camel = (name: string) => name.replace(/[_.]([a-z])/g, (_, letter: string) => letter.toUpperCase());

function valueFor({ attribute, operator }: FilterInfo, { attributes, values }: DatasetInfo): string {
  const type = attributes.find(({ name }) => name === attribute)?.type;
  if (operator === 'has') return 'true';
  if (type === 'date') return '2026-01-01';
  if (type === 'boolean') return 'true';
  return values[attribute]?.[0] ?? (['integer', 'number', 'price'].includes(type ?? '') ? '1' : 'a');
}

/** `{}` is the attribute. */
const WRITTEN: Record<string, string[]> = {
  min: [
    ...['{}_min', '{}_gte', '{}__gte', '{}[gte]', '{}_gt', '{}>', '{}[min]', 'min-{}', '{}_from', '{}.gte', '{}[$gte]'],
    ...['filter[{}][gte]', 'gte_{}', '{}Min'],
  ],
  max: ['{}_max', '{}_lte', '{}__lt', '{}[lte]', '{}_lt', '{}<', '{}[max]', 'max-{}', '{}_to', 'maximum_{}', '{}Max'],
  not: ['{}!', '{}_not', '{}_ne', '{}__ne', '{}[ne]', 'exclude_{}', '{}[$ne]', '-{}'],
  like: ['{}_like', '{}__contains', '{}_contains', '{}__icontains', '{}[like]', '{}~', '{}*'],
  has: ['{}_exists', 'has-{}', '{}[exists]', '{}__isnull', '{}_present'],
  any: ['filter[{}]', '{}[]', '{}_in', '{}__in', '{}[eq]', '{}[in]', 'filter.{}', '{}_eq', 'filters[{}]', 'where[{}]'],
};

/** Each filter of a dataset in the forms of its operator in other APIs. */
export const comparisons: MissRule = (dataset, next) =>
  dataset.filters.flatMap((filter) =>
    Array.from({ length: 2 }, (): NearMiss => {
      const base = bases(dataset)[pickOne(next, FILTERED)] as Base;
      const form = pickOne(next, WRITTEN[filter.operator] ?? ['filter[{}]']);
      const wrong = form.replace('{}', /^\{\}[A-Z]/.test(form) ? camel(filter.attribute) : filter.attribute);
      const value = valueFor(filter, dataset);
      return miss(
        `comparison: ${filter.operator}`,
        dataset,
        base,
        [
          [wrong, value],
          [filter.name, value],
        ],
        [filter.name],
      );
    }),
  );

const spellings: ((name: string) => string)[] = [
  camel,
  (name) => name.replaceAll(/[_.]/g, '-'),
  (name) => name.toUpperCase(),
  (name) => name.replaceAll(/[_.]/g, ' '),
  (name) => name.replaceAll('.', '_'),
  (name) => name.replace(/(^|[_.])([a-z])/g, (_, __, letter: string) => letter.toUpperCase()),
  (name) => `${name}s`,
  (name) => name.replaceAll(/[_.]/g, ''),
  (name) => `attributes.${name}`,
];

/** camelCase, kebab-case, upper case, plural. */
export const otherSpellings: MissRule = (dataset, next) =>
  dataset.filters
    .filter(({ operator }) => operator !== 'has')
    .flatMap((filter) => {
      const wrong = pickOne(next, spellings)(filter.name);
      const all = dataset.filters.map(({ name }) => name);
      if (all.includes(wrong)) return [];
      const base = bases(dataset)[pickOne(next, FILTERED)] as Base;
      const value = valueFor(filter, dataset);
      return [
        miss(
          'other spelling of a filter',
          dataset,
          base,
          [
            [wrong, value],
            [filter.name, value],
          ],
          [filter.name],
        ),
      ];
    });

/** One or two typing errors in the name of a filter, when only one filter is that near. */
export const misspeltFilters: MissRule = (dataset, next) =>
  dataset.filters.flatMap((filter) => {
    const all = dataset.filters.map(({ name }) => name);
    const wrong = misspelt(filter.name, next);
    if (filter.name.length < 4 || all.includes(wrong) || !onlyOne(wrong, filter.name, all)) return [];
    const base = bases(dataset)[pickOne(next, FILTERED)] as Base;
    const value = valueFor(filter, dataset);
    return [
      miss(
        'misspelt filter',
        dataset,
        base,
        [
          [wrong, value],
          [filter.name, value],
        ],
        [filter.name],
      ),
    ];
  });

/** Names that a caller may expect: `dataset: wrong=value>right=value …`. */
const SYNONYMS: Record<string, string> = {
  airports:
    'iata_code=ZRH>iata=ZRH icao_code=LSZH>icao=LSZH country_code=CH>country=CH iso_country=CH>country=CH airport_type=heliport>type=heliport altitude=500>elevation=500 elevation_ft=500>elevation=500 tz=Europe/Zurich>timezone=Europe/Zurich time_zone=Europe/Zurich>timezone=Europe/Zurich airport_name=Zurich>name=Zurich min_runway=3000>min_runway_length=3000 runway=3000>runway_length=3000 min_altitude=500>min_elevation=500 scheduled=true>scheduled_service=true countryName=Switzerland>country_name=Switzerland iata_codes=ZRH>iata=ZRH category=heliport>type=heliport airport_code=LSZH>code=LSZH',
  places:
    'country_code=CH>country=CH iso2=CH>country=CH state=Zurich>admin1=Zurich region=Zurich>admin1=Zurich province=Zurich>admin1=Zurich county=Zurich>admin2=Zurich min_inhabitants=1000>min_population=1000 pop=1000>population=1000 min_pop=1000>min_population=1000 tz=Europe/Zurich>timezone=Europe/Zurich geonameid=1>geonames_id=1 geoname_id=1>geonames_id=1 asciiname=Zurich>ascii_name=Zurich altitude=400>elevation=400 alternatenames=x>alternate_names=x city=Zurich>name=Zurich',
  'llm-models':
    'modality=text>input_modalities=text modalities=text>input_modalities=text contextWindow=1000>context_window=1000 context=1000>context_window=1000 context_length=1000>context_window=1000 min_context=1000>min_context_window=1000 company=openai>vendor=openai maker=openai>vendor=openai creator=openai>vendor=openai max_tokens=1000>max_output_tokens=1000 input_price=1>price.input=1 max_input_price=1>max_price.input=1 output_price=1>price.output=1 max_price=1>max_price.input=1 model=gpt-4o>model_id=gpt-4o tools=true>tool_call=true function_calling=true>tool_call=true open_source=true>open_weights=true cutoff=2025-01-01>knowledge_cutoff=2025-01-01 released=2025-01-01>release_date=2025-01-01 model_name=x>name=x providers=openai>provider=openai task=chat>kind=chat cached_input_price=1>price.cache_read=1',
  tools:
    'min_price=5>min_price.list=5 material=steel>materials=steel rental_price=5>price.rental=5 list_price=5>price.list=5 maker_name=Nordwerk>maker=Nordwerk min_list_price=5>min_price.list=5 tested=2026-01-01>tested_on=2026-01-01 model_code=FS-210>model=FS-210 brand=Nordwerk>maker=Nordwerk weight=2>mass=2 max_weight=2>max_mass=2',
  harbours:
    'language=Deutsch>languages=Deutsch min_berth=2>min_berths=2 harbour_code=12>code=12 harbour_name=x>name=x survey=2025-01-01>surveyed=2025-01-01 moorings=2>berths=2',
};

export const synonyms: MissRule = (dataset) =>
  (SYNONYMS[dataset.id] ?? '').split(' ').flatMap((pair) => {
    const [wrong = '', right = ''] = pair.split('>').map((each) => each.split('=') as CallQuery[number]);
    if (!wrong || !right) return [];
    let name = right[0];
    const known = dataset.filters.map((filter) => filter.name);
    if (known.includes(wrong[0])) return [];
    // An attribute with an order but without a value filter: the message must contain its bounds.
    if (!known.includes(name)) name = `min_${name}|max_${name}`;
    return [miss('synonym of an attribute', dataset, bases(dataset)['entity_search'] as Base, [wrong, right], [name])];
  });
