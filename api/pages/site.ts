// Data of the site's pages: the build collects it from releases and answers, the Astro pages print it.

import type { FilterEntry } from '../../data/input/filters.ts';
import type { Manifest } from '../../data/model/layout.ts';
import type { PublicRecord } from '../../data/model/record.ts';
import type { ChangeDay } from '../../data/plan/history.ts';
import type { Change } from '../../data/queries/changelog.ts';
import type { AttributeProfile } from '../../data/queries/profile.ts';
import type { RunHistory } from '../../data/releases/runs.ts';
import type { SqlTable } from '../../data/write/sql-tables.ts';
import type { Pack, Source } from '../../packs/define/model.ts';
import type { AssetPaths } from './frame.ts';
import type { SqlExample } from './sql.ts';
import type { ValueCounts } from './viewer-model.ts';

/** All data of the Astro pages, as one JSON file; equal data produce equal pages. */
export interface SiteData {
  /** Without a trailing slash; its path is the prefix of every link. */
  base_url: string;
  /** Paths of the shared files. */
  assets: AssetPaths;
  datasets: SiteDataset[];
  /** The API reference. */
  reference: SiteReference;
}

/** The table of operations with prices, errors, requests and answers. */
export interface SiteReference {
  /** Dataset of the example answers; null: there is no dataset. */
  dataset: string | null;
  /** Slugs in the example requests of that dataset: real records. */
  slugs: string[];
  operations: SiteOperation[];
  /** Errors by code. */
  errors: Record<string, { status: number; meaning: string }>;
}

/** A parameter of an operation. */
export interface SiteParameter {
  name: string;
  in: 'path' | 'query' | 'body' | 'header';
  /** `integer`, `string`, `list of strings`. */
  type: string;
  required: boolean;
  description: string;
  /** Closed list of values. */
  values?: string[];
  /** Default in words. */
  fallback?: string;
  /** Limits in words: `1 to 100`. */
  limits?: string;
}

/** An example request: values of path and query by name, and a JSON body. */
export interface SiteRequest {
  parameters: Record<string, string>;
  body?: Record<string, unknown>;
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
  /** What the price is for. */
  unit: 'call' | 'id' | 'attribute';
  /** The condition in words, when only some calls have the price. */
  condition: string | null;
  /** Whether callers without a credential get public values. */
  previews: boolean;
  formats: readonly string[];
  /** Whether it is an MCP tool and an A2A skill as well. */
  tool: boolean;
  /** Whether it accepts the filters of a dataset. */
  filters: boolean;
  parameters: SiteParameter[];
  /** Possible error codes. */
  errors: string[];
  /** An example request for each dataset, or for the register under ''. `{slug}` is replaced by a record's. */
  requests: Record<string, SiteRequest>;
  /** Further example requests for the dataset of the examples, with their titles. */
  tasks: { title: string; request: SiteRequest }[];
  /** An answer in JSON; null: the operation has no JSON. `is_real`: values of the current release. */
  answer: { status: number; json: string; is_real: boolean } | null;
}

/** An attribute in /v1/{ds}/profile. */
export type SiteProfile = AttributeProfile;
export type SiteChange = Change;

export interface SiteDataset
  extends Pick<Pack, 'id' | 'title' | 'description' | 'license' | 'attributes' | 'compare' | 'group_by'>,
    Pick<Manifest, 'release' | 'last_collection' | 'records' | 'facts'> {
  /** Citation of the dataset; ends with its public page. */
  attribution: string;
  /** ISO 8601 UTC: the time of the figures below. */
  as_of: string;
  median_age_hours: number | null;
  /** 0..1: share of values within their freshness promise. */
  within_sla: number | null;
  /** Its nightly runs. */
  runs: RunHistory;
  sources: SiteSource[];
  /** Operations with a price, cheapest first, in EUR. */
  prices: { operation: string; eur: number }[];
  /** Free downloads, with their size in bytes. */
  files: { name: string; title: string; bytes: number }[];
  /** A few showcase records with all values and provenance. */
  examples: PublicRecord[];
  /** First rows of its table. */
  rows: PublicRecord[];
  /** Values of its public attributes with few of them, with the number of records of each. */
  choices: ValueCounts;
  /** Attribute that measures how well known a record is (greater is better known); null: none. */
  prominence: string | null;
  /** The Markdown page of the first example, as published; '' without examples. */
  page: string;
  /** A filter with results: `provider=openai`. */
  filter: string;
  /** Filters of a search. */
  filters: FilterEntry[];
  /** Tables of the SQL console. */
  tables: SqlTable[];
  /** Example queries. */
  sql: SqlExample[];
  profile: SiteProfile[];
  changes: SiteChanges;
  /** JSON-LD of the dataset. */
  jsonld: object;
  /** Prefix of its own MCP tools. */
  tool: string;
}

/** Changes on the pages: changed values of the main attributes in the last year. */
export interface SiteChanges {
  /** The main attributes: public compare columns in the order of the pack, or else all public attributes. */
  attributes: string[];
  /** The first page, and the number of all. */
  items: SiteChange[];
  total: number;
  /** Counts of each day, newest first. */
  days: ChangeDay[];
  /** Their sums by main attribute, those without any left out. */
  sums: (Omit<ChangeDay, 'date'> & { attribute: string })[];
  /** The same of the last 30 days. */
  recent: SiteChanges['sums'];
  /** Values of the attribute that groups the records with their number of changes, most first. */
  groups: { value: string; changes: number }[];
}

export interface SiteSource extends Pick<Source, 'id' | 'title' | 'url' | 'license' | 'trust'> {
  /** ISO 8601 UTC of its newest observation; null without one. */
  confirmed: string | null;
}
