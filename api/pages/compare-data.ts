// Data of the comparison page.
import type { StoredRecord } from '../../data/model/record.ts';
import type { Pack } from '../../packs/define/model.ts';
import { distinctionOf } from '../render/distinction.ts';
import type { RelatedData } from './related-data.ts';

/** A column: a record with exactly the values to show, their sources and their history. */
export interface ComparedColumn extends Pick<RelatedData, 'history' | 'sources'> {
  record: Pick<StoredRecord, 'slug' | 'name' | 'attributes' | 'provenance'>;
}

/** A record that may be added. */
export interface Candidate {
  slug: string;
  name: string;
  detail: string;
}

export interface ComparisonData {
  pack: Pack;
  base_url: string;
  /** In the order of the request. */
  columns: readonly ComparedColumn[];
  /** Ids of the request that are unknown or were removed. */
  missing: readonly string[];
  /** Ids beyond the limit. */
  dropped: number;
  /** The search for a record to add; '' without one. */
  search: string;
  candidates: readonly Candidate[];
  /** Inputs of the calculator, by name. */
  inputs: Readonly<Record<string, number>>;
  /** Whether rows with equal values are hidden. */
  differences: boolean;
  /** Whether the columns of the pack have all their values: the answer of a paid call. */
  paid: boolean;
}

/** A name that no other column has. */
export function labelOf({ pack, columns }: ComparisonData, { record }: ComparedColumn): string {
  const { name } = record;
  const detail = distinctionOf(pack, record);
  return detail !== '' && columns.filter((column) => column.record.name === name).length > 1
    ? `${name} (${detail})`
    : name;
}

/** The path of a comparison, with the inputs and the switch of this one. */
export function comparePath({ pack, inputs, differences }: ComparisonData, slugs: readonly string[]): string {
  const changed = (pack.calculator?.inputs ?? []).filter((input) => inputs[input.name] !== input.default);
  const parameters = [
    ...(slugs.length > 0 ? [`ids=${slugs.map(encodeURIComponent).join(',')}`] : []),
    ...changed.map(({ name }) => `${name}=${inputs[name]}`),
    ...(differences ? ['differences=1'] : []),
  ];
  return `/compare/${pack.id}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`;
}
