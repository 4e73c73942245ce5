// At least twenty questions that people ask about each bundled dataset and one of the tests, with the calls an agent
// makes after it has read the guide. DuckDB computes the correct answers from the release.

/** A call by the name of its operation; `$slug` is the slug in the first row of the call before. */
export type PeopleCall = [operation: string, input: Record<string, unknown>];

export interface PeopleQuestion {
  text: string;
  calls: PeopleCall[];
  /** Columns, rows of lists or counted nouns of the last answer, as `cellsOf` finds them. */
  read: string[];
  /** Rows with these values: SQL over the table `r`, one row for each record. */
  truth: string;
}

/** `read` with commas, the call, and the SQL. */
type QuestionRow = [text: string, call: PeopleCall | PeopleCall[], read: string, truth: string];

const MATCH = 'records match';

const question = ([text, call, read, truth]: QuestionRow): PeopleQuestion => ({
  text,
  calls: Array.isArray(call[0]) ? (call as PeopleCall[]) : [call as PeopleCall],
  read: read.split(','),
  truth,
});

const search = (input: Record<string, unknown>): PeopleCall => ['entity_search', input];
const counted = (by: string, filters: Record<string, unknown>): PeopleCall => [
  'dataset_facets',
  { by, limit: 1, filters },
];
const stats = (input: Record<string, unknown>): PeopleCall => ['dataset_stats', input];

const AIRPORTS: QuestionRow[] = [
  [
    'How many large airports does Germany have?',
    counted('type', { country: 'DE', type: 'large_airport' }),
    MATCH,
    "SELECT count(*) FROM r WHERE country = 'DE' AND type = 'large_airport'",
  ],
  [
    'Which airport has the IATA code ZRH?',
    search({ filters: { iata: 'ZRH' }, fields: 'name', limit: 1 }),
    'name',
    "SELECT name FROM r WHERE iata = 'ZRH'",
  ],
  [
    'How high is the airport with the code SLLP?',
    ['entity_get', { entity_id: 'SLLP', fields: 'elevation' }],
    'elevation',
    "SELECT elevation FROM r WHERE code = 'SLLP'",
  ],
  [
    'Which country has the most airports of the list, and how many?',
    ['dataset_facets', { by: 'country', limit: 1 }],
    'country,records',
    'SELECT country, count(*) FROM r GROUP BY 1 ORDER BY 2 DESC LIMIT 1',
  ],
  [
    'How long is the longest runway in Africa?',
    search({
      filters: { continent: 'AF', has_runway_length: true },
      sort: '-runway_length',
      fields: 'runway_length',
      limit: 1,
    }),
    'runway_length',
    "SELECT max(runway_length) FROM r WHERE continent = 'AF'",
  ],
  [
    'What is the median elevation of large airports?',
    stats({ attribute: 'elevation', filters: { type: 'large_airport' } }),
    'median',
    "SELECT median(elevation) FROM r WHERE type = 'large_airport'",
  ],
  [
    'How many airports in Japan have scheduled service?',
    counted('country', { country: 'JP', scheduled_service: true }),
    MATCH,
    "SELECT count(*) FROM r WHERE country = 'JP' AND scheduled_service",
  ],
  [
    'How many airports lie within 50 km of Paris (48.8566, 2.3522)?',
    counted('country', { near: '48.8566,2.3522,50' }),
    MATCH,
    'SELECT count(*) FROM r WHERE 2 * 6371.0088 * asin(sqrt(pow(sin(radians("location.lat" - 48.8566) / 2), 2) + cos(radians(48.8566)) * cos(radians("location.lat")) * pow(sin(radians("location.lng" - 2.3522) / 2), 2))) <= 50',
  ],
  [
    'How many airports have no IATA code?',
    counted('continent', { has_iata: false }),
    MATCH,
    'SELECT count(*) FROM r WHERE iata IS NULL',
  ],
  [
    'What are the runway lengths of Gatwick and Heathrow, longest first?',
    search({ filters: { iata: ['LGW', 'LHR'] }, sort: '-runway_length', fields: 'runway_length', limit: 2 }),
    'runway_length',
    "SELECT runway_length FROM r WHERE iata IN ('LGW', 'LHR') ORDER BY 1 DESC",
  ],
  [
    'How many airports outside of the US and Canada have a runway of more than 12,000 feet?',
    counted('continent', { not_country: ['US', 'CA'], min_runway_length: 12_001 }),
    MATCH,
    "SELECT count(*) FROM r WHERE country NOT IN ('US', 'CA') AND runway_length > 12000",
  ],
  [
    'How many airports are called International?',
    counted('continent', { like_name: 'international' }),
    MATCH,
    "SELECT count(*) FROM r WHERE name ILIKE '%international%'",
  ],
  [
    'Which airports with scheduled service are the three highest?',
    search({
      filters: { scheduled_service: true, has_elevation: true },
      sort: '-elevation',
      fields: 'elevation',
      limit: 3,
    }),
    'elevation',
    'SELECT elevation FROM r WHERE scheduled_service ORDER BY 1 DESC NULLS LAST LIMIT 3',
  ],
  [
    'How many airports are large, or lie above 7,000 feet with scheduled service?',
    counted('continent', { filter: "type = 'large_airport' OR (elevation > 7000 AND scheduled_service = TRUE)" }),
    MATCH,
    "SELECT count(*) FROM r WHERE type = 'large_airport' OR (elevation > 7000 AND scheduled_service)",
  ],
  [
    'What is the longest runway of each continent?',
    search({
      group_by: 'continent',
      sort: '-runway_length',
      fields: 'continent,runway_length',
      filters: { has_runway_length: true },
      limit: 10,
    }),
    'continent,runway_length',
    'SELECT continent, max(runway_length) FROM r WHERE runway_length IS NOT NULL AND continent IS NOT NULL GROUP BY 1 ORDER BY 2 DESC',
  ],
  [
    'In which country are the most large airports, and how high is their median?',
    stats({
      attribute: 'elevation',
      group_by: 'country',
      order: '-count',
      limit: 1,
      filters: { type: 'large_airport' },
    }),
    'country,median',
    "SELECT country, median(elevation) FROM r WHERE type = 'large_airport' GROUP BY 1 ORDER BY count(elevation) DESC LIMIT 1",
  ],
  [
    'How many airports lie within 30 km of the airport EGLL?',
    counted('country', { near: 'EGLL,30' }),
    MATCH,
    'WITH p AS (SELECT "location.lat" AS lat, "location.lng" AS lng FROM r WHERE code = \'EGLL\') SELECT count(*) FROM r, p WHERE 2 * 6371.0088 * asin(sqrt(pow(sin(radians("location.lat" - lat) / 2), 2) + cos(radians(lat)) * cos(radians("location.lat")) * pow(sin(radians("location.lng" - lng) / 2), 2))) <= 30',
  ],
  [
    'What is the code of the airport "Zurich Arport"?',
    search({ q: 'zurich arport', match: 'any', sort: 'relevance', fields: 'code', limit: 1 }),
    'code',
    "SELECT code FROM r WHERE iata = 'ZRH'",
  ],
  [
    'Of which types are the airports of Iceland, and how many of each?',
    ['dataset_facets', { by: 'type', filters: { country: 'IS' } }],
    'type,records',
    "SELECT type, count(*) FROM r WHERE country = 'IS' AND type IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1",
  ],
  [
    'In which time zones are the airports of Portugal, and how many in each?',
    ['dataset_facets', { by: 'timezone', filters: { country: 'PT' } }],
    'timezone,records',
    "SELECT timezone, count(*) FROM r WHERE country = 'PT' AND timezone IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1",
  ],
];

const MODELS: QuestionRow[] = [
  [
    'How many models does OpenAI sell itself?',
    counted('provider', { provider: 'openai' }),
    MATCH,
    "SELECT count(*) FROM r WHERE provider = 'openai'",
  ],
  [
    'What does the input of o3 cost at OpenAI?',
    search({ filters: { provider: 'openai', model_id: 'o3' }, fields: 'price.input', limit: 1 }),
    'price.input',
    "SELECT \"price.input.min\" FROM r WHERE provider = 'openai' AND model_id = 'o3'",
  ],
  [
    'Which provider has the most models, and how many?',
    ['dataset_facets', { by: 'provider', limit: 1 }],
    'provider,records',
    'SELECT provider, count(*) FROM r GROUP BY 1 ORDER BY 2 DESC LIMIT 1',
  ],
  [
    'How many listed chat models take images?',
    counted('kind', { status: 'listed', kind: 'chat', input_modalities: 'image' }),
    MATCH,
    "SELECT count(*) FROM r WHERE status = 'listed' AND kind = 'chat' AND list_contains(input_modalities, 'image')",
  ],
  [
    'How many models of Anthropic can think before they answer?',
    counted('provider', { vendor: 'anthropic', reasoning: true }),
    MATCH,
    "SELECT count(*) FROM r WHERE vendor = 'anthropic' AND reasoning",
  ],
  [
    'What is the largest context window?',
    search({ filters: { has_context_window: true }, sort: '-context_window', fields: 'context_window', limit: 1 }),
    'context_window',
    'SELECT max(context_window) FROM r',
  ],
  [
    'What is the median input price of embedding models?',
    stats({ attribute: 'price.input', filters: { kind: 'embedding' } }),
    'median',
    'SELECT median("price.input.min") FROM r WHERE kind = \'embedding\'',
  ],
  [
    'How many models are no longer listed anywhere?',
    counted('status', { status: 'delisted' }),
    MATCH,
    "SELECT count(*) FROM r WHERE status = 'delisted'",
  ],
  [
    'How many listed models have a context of a million tokens or more?',
    counted('kind', { status: 'listed', min_context_window: 1_000_000 }),
    MATCH,
    "SELECT count(*) FROM r WHERE status = 'listed' AND context_window >= 1000000",
  ],
  [
    'How many models have open weights and call tools?',
    counted('kind', { open_weights: true, tool_call: true }),
    MATCH,
    'SELECT count(*) FROM r WHERE open_weights AND tool_call',
  ],
  [
    'What do the three dearest answers of listed chat models cost?',
    search({
      filters: { kind: 'chat', status: 'listed', 'has_price.output': true },
      sort: '-price.output',
      fields: 'price.output',
      limit: 3,
    }),
    'price.output',
    "SELECT \"price.output.min\" FROM r WHERE kind = 'chat' AND status = 'listed' ORDER BY 1 DESC NULLS LAST LIMIT 3",
  ],
  [
    'Of which kinds are the models of Mistral, and how many of each?',
    ['dataset_facets', { by: 'kind', filters: { vendor: 'mistral' } }],
    'kind,records',
    "SELECT kind, count(*) FROM r WHERE vendor = 'mistral' AND kind IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1",
  ],
  [
    'How many models were first seen in October 2026?',
    counted('kind', { min_first_observed: '2026-10-01', max_first_observed: '2026-10-31' }),
    MATCH,
    "SELECT count(*) FROM r WHERE first_observed BETWEEN '2026-10-01' AND '2026-10-31'",
  ],
  [
    'How many models are neither from OpenAI nor from Google?',
    counted('kind', { not_vendor: ['openai', 'google'] }),
    MATCH,
    "SELECT count(*) FROM r WHERE vendor IS NULL OR vendor NOT IN ('openai', 'google')",
  ],
  [
    'How many models take more than a million tokens?',
    counted('kind', { min_context_window: 1000001 }),
    MATCH,
    'SELECT count(*) FROM r WHERE context_window > 1000000',
  ],
  [
    'How many models have "mini" in their id?',
    counted('kind', { like_model_id: 'mini' }),
    MATCH,
    "SELECT count(*) FROM r WHERE model_id ILIKE '%mini%'",
  ],
  [
    'How many models answer for less than five times the price of their input?',
    counted('kind', { filter: 'price.output < 5 * price.input' }),
    MATCH,
    'SELECT count(*) FROM r WHERE "price.output.min" < 5 * "price.input.max"',
  ],
  [
    'What is the largest context window of each kind of model?',
    search({
      group_by: 'kind',
      sort: '-context_window',
      filters: { has_context_window: true },
      fields: 'kind,context_window',
      limit: 10,
    }),
    'kind,context_window',
    'SELECT kind, max(context_window) FROM r WHERE kind IS NOT NULL AND context_window IS NOT NULL GROUP BY 1 ORDER BY 2 DESC',
  ],
  [
    'Which provider with at least 50 prices has the lowest median input price?',
    stats({ attribute: 'price.input', group_by: 'provider', order: 'median', having_min_count: 50, limit: 1 }),
    'provider,median',
    'SELECT provider, median("price.input.min") FROM r GROUP BY 1 HAVING count("price.input.min") >= 50 ORDER BY 2, 1 LIMIT 1',
  ],
  [
    'What is the context window of openai/o3?',
    ['entity_get', { entity_id: 'openai/o3', fields: 'context_window' }],
    'context_window',
    "SELECT context_window FROM r WHERE provider = 'openai' AND model_id = 'o3'",
  ],
  [
    'How much context do o3 at OpenAI and its most similar model at OpenRouter have?',
    [
      search({
        filters: { provider: 'openrouter', like_model_id: 'openai/o3' },
        sort: 'quality',
        fields: 'context_window',
        limit: 1,
      }),
      ['entity_batch', { ids: ['openai-o3', '$slug'], fields: 'context_window' }],
    ],
    'context_window',
    "(SELECT context_window FROM r WHERE slug = 'openai-o3') UNION ALL (SELECT context_window FROM r WHERE provider = 'openrouter' AND model_id ILIKE '%openai/o3%' ORDER BY quality_score, id LIMIT 1)",
  ],
];

const PLACES: QuestionRow[] = [
  [
    'How many people live in Zürich?',
    search({ filters: { name: 'zurich', country: 'CH' }, sort: '-population', fields: 'population', limit: 1 }),
    'population',
    "SELECT max(population) FROM r WHERE strip_accents(lower(name)) = 'zurich' AND country = 'CH'",
  ],
  [
    'Which five cities of Brazil are the largest?',
    search({
      filters: { country: 'BR', has_population: true },
      sort: '-population',
      fields: 'name,population',
      limit: 5,
    }),
    'name,population',
    "SELECT name, population FROM r WHERE country = 'BR' ORDER BY population DESC NULLS LAST LIMIT 5",
  ],
  [
    'How many places are called San Antonio?',
    counted('country', { name: 'San Antonio' }),
    MATCH,
    "SELECT count(*) FROM r WHERE strip_accents(lower(name)) = 'san antonio'",
  ],
  [
    'Which country has the most places, and how many?',
    ['dataset_facets', { by: 'country', limit: 1 }],
    'country,records',
    'SELECT country, count(*) FROM r GROUP BY 1 ORDER BY 2 DESC LIMIT 1',
  ],
  [
    'What is the capital of Mongolia?',
    search({ filters: { country: 'MN', feature: 'PPLC' }, fields: 'name', limit: 1 }),
    'name',
    "SELECT name FROM r WHERE country = 'MN' AND feature = 'PPLC'",
  ],
  [
    'How many cities with more than a million people does India have?',
    counted('country', { country: 'IN', min_population: 1_000_001 }),
    MATCH,
    "SELECT count(*) FROM r WHERE country = 'IN' AND population > 1000000",
  ],
  [
    'How many places lie within 20 km of Prague (50.0755, 14.4378)?',
    counted('country', { near: '50.0755,14.4378,20' }),
    MATCH,
    'SELECT count(*) FROM r WHERE 2 * 6371.0088 * asin(sqrt(pow(sin(radians("location.lat" - 50.0755) / 2), 2) + cos(radians(50.0755)) * cos(radians("location.lat")) * pow(sin(radians("location.lng" - 14.4378) / 2), 2))) <= 20',
  ],
  [
    'What is the median population of places in Italy?',
    stats({ attribute: 'population', filters: { country: 'IT' } }),
    'median',
    "SELECT median(population) FROM r WHERE country = 'IT'",
  ],
  [
    'Which three states of Mexico have the most places?',
    ['dataset_facets', { by: 'admin1', limit: 3, filters: { country: 'MX' } }],
    'admin1,records',
    "SELECT admin1, count(*) FROM r WHERE country = 'MX' AND admin1 IS NOT NULL GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
  ],
  [
    'How many places in Kenya or Uganda have more than 100,000 people?',
    counted('country', { filter: "country IN ('KE', 'UG') AND population > 100000" }),
    MATCH,
    "SELECT count(*) FROM r WHERE country IN ('KE', 'UG') AND population > 100000",
  ],
  [
    'How many places in Norway lie above 500 m?',
    counted('country', { country: 'NO', min_elevation: 501 }),
    MATCH,
    "SELECT count(*) FROM r WHERE country = 'NO' AND elevation > 500",
  ],
  [
    'How high is the highest place of Bolivia?',
    search({ filters: { country: 'BO', has_elevation: true }, sort: '-elevation', fields: 'elevation', limit: 1 }),
    'elevation',
    "SELECT max(elevation) FROM r WHERE country = 'BO'",
  ],
  [
    'How many places of the US are in neither Texas nor California?',
    counted('country', { country: 'US', not_admin1: ['Texas', 'California'] }),
    MATCH,
    "SELECT count(*) FROM r WHERE country = 'US' AND (admin1 IS NULL OR admin1 NOT IN ('Texas', 'California'))",
  ],
  [
    'How many places have an unknown population?',
    counted('country', { has_population: false }),
    MATCH,
    'SELECT count(*) FROM r WHERE population IS NULL',
  ],
  [
    'How many places does the newest list of Spain lack?',
    counted('country', { country: 'ES', status: 'unlisted' }),
    MATCH,
    "SELECT count(*) FROM r WHERE country = 'ES' AND status = 'unlisted'",
  ],
  [
    'How many places of France have "sur-mer" in their name?',
    counted('country', { country: 'FR', like_name: 'sur-mer' }),
    MATCH,
    "SELECT count(*) FROM r WHERE country = 'FR' AND strip_accents(name) ILIKE '%sur-mer%'",
  ],
  [
    'How many places are capitals, or have more than five million people?',
    counted('country', { filter: "feature = 'PPLC' OR population > 5000000" }),
    MATCH,
    "SELECT count(*) FROM r WHERE feature = 'PPLC' OR population > 5000000",
  ],
  [
    'What is the largest place of each state of Austria?',
    search({
      group_by: 'admin1',
      sort: '-population',
      filters: { country: 'AT', has_population: true },
      fields: 'admin1,population',
      limit: 20,
    }),
    'admin1,population',
    "SELECT admin1, max(population) FROM r WHERE country = 'AT' AND population IS NOT NULL AND admin1 IS NOT NULL GROUP BY 1 ORDER BY 2 DESC",
  ],
  [
    'In which state of Germany do most people of the list live, and how many?',
    stats({ attribute: 'population', group_by: 'admin1', order: '-sum', limit: 1, filters: { country: 'DE' } }),
    'admin1,sum',
    "SELECT admin1, sum(population) FROM r WHERE country = 'DE' AND population IS NOT NULL GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
  ],
  [
    'How many people live in the place with the GeoNames number 2657896?',
    ['entity_get', { entity_id: '2657896', fields: 'population' }],
    'population',
    'SELECT population FROM r WHERE geonames_id = 2657896',
  ],
  [
    'In which country is the largest place called "Reykjavik Capital Citty"?',
    search({ q: 'reykjavik citty', match: 'any', sort: 'relevance', fields: 'country', limit: 1 }),
    'country',
    "SELECT 'IS'",
  ],
];

const TOOLS: QuestionRow[] = [
  ['How many saws are there?', counted('kind', { kind: 'saw' }), MATCH, "SELECT count(*) FROM r WHERE kind = 'saw'"],
  [
    'Of which kinds are the tools, and how many of each?',
    ['dataset_facets', { by: 'kind', limit: 3 }],
    'kind,records',
    'SELECT kind, count(*) FROM r WHERE kind IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3',
  ],
  ['How many tools are cordless?', counted('kind', { cordless: true }), MATCH, 'SELECT count(*) FROM r WHERE cordless'],
  [
    'How many are cordless drills or saws?',
    counted('kind', { cordless: true, kind: ['drill', 'saw'] }),
    MATCH,
    "SELECT count(*) FROM r WHERE cordless AND kind IN ('drill', 'saw')",
  ],
  [
    'What is the mass of the heaviest tool?',
    search({ filters: { has_mass: true }, sort: '-mass', fields: 'mass', limit: 1 }),
    'mass',
    'SELECT max(mass) FROM r',
  ],
  [
    'What are the three highest list prices?',
    search({ filters: { 'has_price.list': true }, sort: '-price.list', fields: 'price.list', limit: 3 }),
    'price.list',
    'SELECT "price.list.min" FROM r ORDER BY 1 DESC NULLS LAST LIMIT 3',
  ],
  ['What is the median mass?', stats({ attribute: 'mass' }), 'median', 'SELECT median(mass) FROM r'],
  [
    'How light is the lightest, and how heavy the heaviest gauge?',
    stats({ attribute: 'mass', filters: { kind: 'gauge' } }),
    'min,max',
    "SELECT min(mass), max(mass) FROM r WHERE kind = 'gauge'",
  ],
  [
    'How many tools have no list price?',
    counted('kind', { 'has_price.list': false }),
    MATCH,
    'SELECT count(*) FROM r WHERE "price.list.min" IS NULL',
  ],
  [
    'How many tools are neither saws nor gauges?',
    counted('kind', { not_kind: ['saw', 'gauge'] }),
    MATCH,
    "SELECT count(*) FROM r WHERE kind IS NULL OR kind NOT IN ('saw', 'gauge')",
  ],
  [
    'How many were first seen in 2026?',
    counted('kind', { min_first_seen: '2026-01-01', max_first_seen: '2026-12-31' }),
    MATCH,
    "SELECT count(*) FROM r WHERE first_seen BETWEEN '2026-01-01' AND '2026-12-31'",
  ],
  [
    'How many are no longer made?',
    counted('status', { status: 'discontinued' }),
    MATCH,
    "SELECT count(*) FROM r WHERE status = 'discontinued'",
  ],
  [
    'How much does record-3 weigh?',
    ['entity_get', { entity_id: 'record-3', fields: 'mass' }],
    'mass',
    "SELECT mass FROM r WHERE slug = 'record-3'",
  ],
  [
    'How much do record-1 and record-2 weigh?',
    ['entity_batch', { ids: ['record-1', 'record-2'], fields: 'mass' }],
    'mass',
    "SELECT mass FROM r WHERE slug IN ('record-1', 'record-2') ORDER BY slug",
  ],
  [
    'How many run for at least five minutes?',
    counted('kind', { min_runtime: 5 }),
    MATCH,
    'SELECT count(*) FROM r WHERE runtime >= 5',
  ],
  [
    'How many workshops lie within 500 km of Zürich (47.3769, 8.5417)?',
    counted('kind', { near: '47.3769,8.5417,500' }),
    MATCH,
    'SELECT count(*) FROM r WHERE 2 * 6371.0088 * asin(sqrt(pow(sin(radians("workshop.lat" - 47.3769) / 2), 2) + cos(radians(47.3769)) * cos(radians("workshop.lat")) * pow(sin(radians("workshop.lng" - 8.5417) / 2), 2))) <= 500',
  ],
  [
    'How many are saws, or cordless and lighter than a kilogram?',
    counted('kind', { filter: "kind = 'saw' OR (cordless = TRUE AND mass < 1)" }),
    MATCH,
    "SELECT count(*) FROM r WHERE kind = 'saw' OR (cordless AND mass < 1)",
  ],
  [
    'How heavy is the heaviest tool of each kind?',
    search({ group_by: 'kind', sort: '-mass', filters: { has_mass: true }, fields: 'kind,mass', limit: 1 }),
    'mass',
    'SELECT max(mass) FROM r WHERE kind IS NOT NULL',
  ],
  [
    'What do all saws weigh together?',
    stats({ attribute: 'mass', group_by: 'kind', order: '-count', limit: 1, filters: { kind: 'saw' } }),
    'sum',
    "SELECT sum(mass) FROM r WHERE kind = 'saw'",
  ],
  [
    'What is the kind of the lightest tool, and how much does it weigh?',
    [
      search({ filters: { has_mass: true, has_kind: true }, sort: 'mass', fields: 'mass', limit: 1 }),
      ['entity_get', { entity_id: '$slug', fields: 'mass' }],
    ],
    'mass',
    'SELECT min(mass) FROM r WHERE kind IS NOT NULL',
  ],
];

/** The questions of each dataset. */
export const PEOPLE: Readonly<Record<string, readonly PeopleQuestion[]>> = {
  'llm-models': MODELS.map(question),
  airports: AIRPORTS.map(question),
  places: PLACES.map(question),
  tools: TOOLS.map(question),
};
