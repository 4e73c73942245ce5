// The columns of the airports dataset: public attributes, attributes an owner may edit, and bounds of
// numbers.
import type { definePack } from 'dataset-register/pack';

type Attributes = Parameters<typeof definePack>[0]['attributes'];

/** Hours: the source publishes about twice a year. */
const SLA = 4380;
const PUBLIC = { public: true, filterable: true, sla: SLA } as const;
const PAID = { filterable: true, sla: SLA } as const;

export const airportAttributes: Attributes = {
  code: {
    aliases: ['ident'],
    ...PUBLIC,
    type: 'string',
    description: 'Code that names the airport in this dataset: ICAO (or the national code in its place), else IATA',
    example: 'ZZX1',
    searchable: true,
    search_weight: 10,
    weight: 0,
  },
  name: {
    ...PUBLIC,
    type: 'string',
    description: 'Name of the airport in English or Latin letters',
    example: 'Musterfeld Airport',
    searchable: true,
    editable: true,
  },
  icao: {
    ...PUBLIC,
    type: 'string',
    description: 'ICAO code of four letters; where an airfield has none, often the national code (such as 80F)',
    example: 'ZZX1',
    searchable: true,
    search_weight: 10,
  },
  iata: {
    ...PUBLIC,
    type: 'string',
    description: 'IATA code of three letters, as on tickets and luggage tags',
    example: 'ZXM',
    searchable: true,
    search_weight: 10,
    weight: 0.5,
  },
  type: {
    aliases: ['category', 'kind'],
    ...PUBLIC,
    type: 'enum',
    values: ['large_airport', 'medium_airport', 'small_airport', 'heliport', 'seaplane_base'],
    description: 'Kind and size of the airport',
    example: 'medium_airport',
  },
  status: {
    ...PUBLIC,
    type: 'enum',
    values: ['listed', 'unlisted'],
    description: 'Whether the newest version of the source still lists it; unlisted does not prove it closed',
    example: 'listed',
    weight: 0,
  },
  country: {
    aliases: ['iso_country', 'iso2', 'alpha2', 'nation'],
    vocabulary: 'country',
    ...PUBLIC,
    type: 'enum',
    description: 'ISO 3166-1 alpha-2 code of the country or territory',
    example: 'DE',
  },
  country_name: {
    aliases: ['nation_name'],
    vocabulary: 'country',
    ...PUBLIC,
    type: 'string',
    description: 'English name of the country or territory, derived from its code',
    example: 'Germany',
    searchable: true,
    weight: 0,
  },
  continent: {
    ...PUBLIC,
    type: 'enum',
    values: ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'],
    description:
      'Continent as the source has it, parts of Siberia with Europe: AF Africa, AN Antarctica, AS Asia, EU Europe, NA North America, OC Oceania, SA South America',
    example: 'EU',
  },
  timezone: {
    aliases: ['tz', 'tzid', 'time_zone'],
    ...PUBLIC,
    type: 'enum',
    description: 'IANA time zone',
    example: 'Europe/Berlin',
  },
  location: {
    ...PUBLIC,
    type: 'geo',
    unit: 'degrees',
    description: 'Reference point of the airport (WGS 84)',
    example: { lat: 54.1, lng: 10.2 },
  },
  elevation: {
    aliases: ['altitude', 'height'],
    ...PUBLIC,
    type: 'integer',
    unit: 'ft',
    description:
      'Elevation above sea level in feet; figures that count flights or lost their thousands are not published',
    example: 120,
    // No ground is above the upper bound, and no shore below the lower one.
    range: { min: -1500, max: 29_100 },
  },
  runway_length: {
    aliases: ['longest_runway'],
    ...PUBLIC,
    type: 'integer',
    unit: 'ft',
    description: 'Length of the longest runway in feet',
    example: 6200,
    // Helipads are the shortest; the source also has a few placeholders such as -10 and 1.
    range: { min: 40, max: 20_000 },
    jump: 5,
    group_jump: false,
    editable: true,
  },
  scheduled_service: {
    aliases: ['scheduled'],
    ...PUBLIC,
    type: 'boolean',
    description: 'Whether airlines fly there by timetable',
    example: true,
    editable: true,
  },
  city: {
    ...PUBLIC,
    type: 'string',
    description:
      'City that the airport serves, derived: for large and medium airports with scheduled service a place of at least 100,000 people within 60 km, with the most people for its distance; for others the nearest place of 5,000 people within 30 km',
    example: 'Musterfeld',
    searchable: true,
    search_weight: 10,
    weight: 0,
  },
  city_names: {
    ...PUBLIC,
    type: 'strings',
    description: 'Other names of the city, in other languages and spellings, of airports that serve a large one',
    example: ['Musterfield'],
    searchable: true,
    search_weight: 10,
    published_entries: 30,
    weight: 0,
  },
  prominence: {
    ...PUBLIC,
    type: 'integer',
    description:
      'How prominent the airport is, 0 to 1000, to rank by: derived from size, scheduled service, longest runway and, where a version of the source counts them, flights',
    example: 420,
    range: { min: 0, max: 1000 },
    weight: 0,
  },
  wikipedia: {
    ...PAID,
    type: 'url',
    description: 'Article in Wikipedia',
    example: 'https://en.wikipedia.org/wiki/Airport',
    weight: 0.5,
    editable: true,
  },
  website: {
    ...PAID,
    type: 'url',
    description: 'Website of the airport or its operator',
    example: 'https://musterfeld-airport.example/',
    weight: 0.5,
    editable: true,
  },
  domain: {
    ...PAID,
    type: 'string',
    description: 'Host of the website without www.; operators of many airports share one',
    example: 'musterfeld-airport.example',
    weight: 0,
  },
};
