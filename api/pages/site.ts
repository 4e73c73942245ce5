// Data of the site's pages: the build collects it from releases and answers, the Astro pages print it.

import type { FilterEntry } from '../../data/input/filters.ts';
import type { PublicRecord } from '../../data/model/record.ts';
import type { Change } from '../../data/queries/changelog.ts';
import type { AttributeProfile } from '../../data/queries/profile.ts';
import type { Column } from '../../data/write/dictionary.ts';
import type { Value } from '../../packs/define/model.ts';
import type { AssetPaths } from './frame.ts';
import type { SqlExample } from './sql.ts';

/** All data of the Astro pages, as one JSON file; equal data produce equal pages. */
export interface SiteData {
  /** Without a trailing slash; its path is the prefix of every link. */
  base_url: string;
  /** Paths of the shared files. */
  assets: AssetPaths;
  datasets: SiteDataset[];
  /** The table of operations, for the reference. */
  operations: SiteOperation[];
}

export interface SiteOperation {
  name: string;
  title: string;
  description: string;
  method: string;
  path: string;
  group: string;
  access: string;
  /** Name of the pack price; null: none. */
  price: string | null;
  /** The condition in words, when only some calls have the price. */
  condition: string | null;
  formats: readonly string[];
  /** Whether it is an MCP tool and an A2A skill as well. */
  tool: boolean;
  parameters: { name: string; in: 'path' | 'query' | 'body'; type: string; required: boolean; description: string }[];
}

/** An attribute in /v1/{ds}/profile. */
export type SiteProfile = AttributeProfile;
export type SiteChange = Change;

export interface SiteDataset {
  id: string;
  title: string;
  description: string;
  license: { name: string; url: string };
  /** Citation of the dataset; ends with its public page. */
  attribution: string;
  release: string;
  /** ISO 8601 UTC: the time of the figures below. */
  as_of: string;
  last_collection: string;
  records: number;
  facts: number;
  median_age_hours: number | null;
  /** 0..1: share of values within their freshness promise. */
  within_sla: number | null;
  sources: SiteSource[];
  attributes: SiteAttribute[];
  /** Operations with a price, cheapest first, in EUR. */
  prices: { operation: string; eur: number }[];
  /** Free downloads, with their size in bytes. */
  files: { name: string; title: string; bytes: number }[];
  /** A few showcase records with all values and provenance. */
  examples: PublicRecord[];
  /** First rows of the public file in the order of its table, and the bytes of its metadata. */
  table: { rows: PublicRecord[]; footer: number };
  /** Number of showcase records. */
  showcase: number;
  /** Compare columns of the pack: the attributes that distinguish records. */
  compare: string[];
  /** Attribute that groups the records. */
  group_by: string;
  /** Attribute that measures how well known a record is (greater is better known); null: none. */
  prominence: string | null;
  /** The Markdown page of the first example, as published; '' without examples. */
  page: string;
  /** A filter with results: `provider=openai`. */
  filter: string;
  /** Filters of a search. */
  filters: FilterEntry[];
  /** Columns of the public database file. */
  columns: Column[];
  /** Queries for the public database file. */
  sql: SqlExample[];
  profile: SiteProfile[];
  /** The newest changes of the last year, and how many there are. */
  changes: { items: SiteChange[]; total: number };
  /** JSON-LD of the dataset. */
  jsonld: object;
  /** Prefix of its own MCP tools. */
  tool: string;
}

export interface SiteSource {
  id: string;
  title: string;
  url: string;
  license: string;
  trust: number;
  /** ISO 8601 UTC of its newest observation; null without one. */
  confirmed: string | null;
}

export interface SiteAttribute {
  name: string;
  type: string;
  unit: string | null;
  description: string;
  example: Value;
  public: boolean;
  filterable: boolean;
  searchable: boolean;
  sla_hours: number;
}
