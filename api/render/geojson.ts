// Records as GeoJSON (RFC 7946): a FeatureCollection of points with their values, without provenance
// (contract section 9).

import type { PublicRecord } from '../../data/model/record.ts';
import { mapSlices } from '../../data/plan/slices.ts';
import type { Geo } from '../../packs/define/model.ts';
import type { Result } from '../contract/operation.ts';
import { ROWS_A_SLICE, type Rows } from './rows.ts';

/** Members that the collection copies from the answer of a search. */
interface Page {
  attribution: string;
  license: string;
  next_cursor: string | null;
  total?: number;
}

/**
 * The records as `{type: 'FeatureCollection', attribution, license, next_cursor, total?, features}`. A record
 * without a point has `geometry: null`. Positions are longitude, latitude.
 */
export async function geojson(rows: Rows, { body }: Result<unknown>): Promise<string> {
  const { attribution, license, next_cursor, total } = body as Page;
  const head = {
    type: 'FeatureCollection',
    attribution,
    license,
    next_cursor,
    ...(total === undefined ? {} : { total }),
  };
  const features = await mapSlices(rows.items, ROWS_A_SLICE, (record) => geojsonFeature(rows, record), rows.options);
  return `${JSON.stringify(head).slice(0, -1)},"features":[${features.join(',')}]}`;
}

/** The members of a record that a feature has. */
export type MappedRecord = Pick<
  PublicRecord,
  'id' | 'slug' | 'name' | 'url' | 'updated_at' | 'quality_score' | 'attributes' | 'distance_km'
>;

/** A record as the text of a Feature with the given attributes. */
export function geojsonFeature({ attributes }: Pick<Rows, 'attributes'>, record: MappedRecord): string {
  const { id, slug, name, url, updated_at, quality_score, distance_km } = record;
  const properties: Record<string, unknown> = { slug, name, url, updated_at, quality_score };
  if (distance_km !== undefined) properties['distance_km'] = distance_km;
  let place: string | null = null;
  for (const attribute of attributes) {
    if (place === null && attribute.type === 'geo') place = attribute.name;
    else if (attribute.name in record.attributes) properties[attribute.name] = record.attributes[attribute.name];
  }
  const point = place === null ? undefined : (record.attributes[place] as Geo | undefined);
  const geometry = point ? { type: 'Point', coordinates: [point.lng, point.lat] } : null;
  return JSON.stringify({ type: 'Feature', id, geometry, properties });
}
