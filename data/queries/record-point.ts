// The position of a record that `near` names, in this dataset or another (contract section 9).
import type { Geo } from '../../packs/define/model.ts';
import { printable } from '../input/parse-values.ts';
import { invalid } from '../input/rows.ts';
import { DataError } from '../model/errors.ts';
import type { StoredRecord } from '../model/record.ts';
import type { QueryOptions } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';
import { unknownEntity } from './nearest.ts';

/**
 * The point of `<id, slug or key>` of the release, or of `<dataset>/<id, slug or key>`; `releaseOf` finds a dataset's
 * release. Throws 400 for an unknown record, with the nearest ones, and for one without a public position.
 */
export async function recordPoint(
  text: string,
  current: Release,
  releaseOf: (dataset: string) => Release | null,
  options: QueryOptions,
): Promise<Geo> {
  const slash = text.indexOf('/');
  const other = slash < 0 ? null : releaseOf(text.slice(0, slash).toLowerCase());
  const [release, ref] = other === null ? [current, text] : [other, text.slice(slash + 1)];
  const { engine, pack } = release;
  const points = pack.attributes.filter(({ type }) => type === 'geo');
  const [attribute] = points;
  if (attribute === undefined || points.length > 1 || !attribute.public)
    throw invalid(`near: ${pack.id} has no public position of its records; use near=<latitude>,<longitude>,<km>.`);
  const [ordinal] = await engine.resolve([ref.toLowerCase()], options);
  if (ordinal === null || ordinal === undefined) {
    const { message, detail } = await unknownEntity(release, ref, options, 'near');
    const { nearest } = detail as { nearest: { slug: string; name: string }[] };
    const names = nearest.map(({ slug, name }) => `${name} (${slug})`).join(', ');
    throw new DataError('invalid_parameter', names === '' ? message : `${message} Nearest: ${names}.`, detail);
  }
  const [stored] = await engine.bodies([ordinal], options);
  const { name, attributes } = JSON.parse(stored!.body) as StoredRecord;
  const point = attributes[attribute.name] as Geo | undefined;
  if (point === undefined) throw invalid(`near: the position of "${printable(name)}" is not known.`);
  return { lat: point.lat, lng: point.lng };
}
