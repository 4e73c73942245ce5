// A view as a file: CSV, JSON or GeoJSON, in the shapes of the API.

import type { Model, ModelAttribute } from '../../api/pages/viewer-model.ts';
import { csvRow, flatCells, flatColumns } from '../../data/write/csv.ts';
import type { Geo, Value } from '../../packs/define/model.ts';
import type { FileFormat, Row } from './messages.ts';

export const CONTENT_TYPES: Record<FileFormat, string> = {
  csv: 'text/csv;charset=utf-8',
  json: 'application/json',
  geojson: 'application/geo+json',
};

/** The parts of the file; `columns` are the attributes of `values`, in their order. */
export function* fileParts(
  format: FileFormat,
  rows: Iterable<Row>,
  columns: readonly ModelAttribute[],
  { attribution, pages, geo }: Pick<Model, 'attribution' | 'pages' | 'geo'>,
): Generator<string> {
  const attributesOf = ({ values }: Row) =>
    Object.fromEntries(columns.flatMap(({ name }, at) => (values[at] === null ? [] : [[name, values[at]]])));
  if (format === 'csv') {
    yield `${csvRow(['slug', 'record', ...columns.flatMap(flatColumns)])}\r\n`;
    for (const { slug, name, values } of rows)
      yield `${csvRow([slug, name, ...columns.flatMap((column, at) => flatCells(column, values[at] ?? undefined))])}\r\n`;
    return;
  }
  const at = columns.findIndex(({ name }) => name === geo);
  const item = (row: Row): object => {
    const { slug, name, values } = row;
    if (format === 'json') return { slug, name, url: pages + slug, attributes: attributesOf(row) };
    const { [geo ?? '']: _, ...attributes } = attributesOf(row);
    return {
      type: 'Feature',
      id: slug,
      geometry: geometryOf(values[at] ?? null),
      properties: { slug, name, url: pages + slug, ...attributes },
    };
  };
  const [open, list] = format === 'json' ? ['{', 'items'] : ['{"type":"FeatureCollection",', 'features'];
  yield `${open}"attribution":${JSON.stringify(attribution)},"${list}":[`;
  let before = '\n';
  for (const row of rows) {
    yield before + JSON.stringify(item(row));
    before = ',\n';
  }
  yield '\n]}\n';
}

function geometryOf(value: Value | null): object | null {
  if (value === null) return null;
  const { lat, lng } = value as Geo;
  return { type: 'Point', coordinates: [lng, lat] };
}
