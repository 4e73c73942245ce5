// The files of a dataset below `/files/{ds}/`, one row each. Lists, dictionary, Croissant, JSON-LD, types,
// ranges, uploads and the withholding of files after opt-outs follow from it.
import type { Pack } from '../../packs/define/model.ts';

interface DataFile {
  media_type: string;
  description: string;
  /**
   * It has the values of all records: read in ranges, part of the dataset's distributions, and withheld after
   * an opt-out until it is written without the record.
   */
  bulk?: true;
  /** Only datasets with a public point have it. */
  geography?: true;
}

const PARQUET = 'application/vnd.apache.parquet';

/** By file name. Bulk files are in the order in which they are written again after a removal. */
export const DATA_FILES = {
  'public.parquet': {
    media_type: PARQUET,
    description: 'public values of every record, with provenance; open',
    bulk: true,
  },
  'public.duckdb': {
    media_type: 'application/octet-stream',
    description: 'public values of every record without provenance, in the table records; open',
    bulk: true,
  },
  'history.parquet': {
    media_type: PARQUET,
    description: 'every public value ever published, when it was valid, and its source; open',
    bulk: true,
  },
  'public.geojson': {
    media_type: 'application/geo+json',
    description: 'public values of every record without provenance, as features with points; open',
    bulk: true,
    geography: true,
  },
  'dictionary.json': {
    media_type: 'application/json',
    description: 'data dictionary: type, unit, meaning of each column',
  },
  'dictionary.md': { media_type: 'text/markdown', description: 'data dictionary as Markdown' },
  'croissant.jsonld': { media_type: 'application/ld+json', description: 'Croissant 1.1 description of the data files' },
  'NOTICE.txt': { media_type: 'text/plain', description: 'licence notice that must accompany copies of the data' },
} as const satisfies Record<string, DataFile>;

const ROWS: readonly (readonly [string, DataFile])[] = Object.entries(DATA_FILES);

/** Types by extension, for hosts that lack some of them. */
export const BULK_TYPES: ReadonlyMap<string, string> = new Map(
  ROWS.filter(([, { bulk }]) => bulk).map(([name, { media_type }]) => [name.replace(/^.*\./, ''), media_type]),
);

const BULK_NAMES = new Set(ROWS.filter(([, { bulk }]) => bulk).map(([name]) => name));

/** The dataset of a path `files/{ds}/{name}` below DIST_DIR if the file is a bulk file, else null. */
export function bulkFileDataset(path: string): string | null {
  const [folder, dataset = '', name = '', ...rest] = path.split('/');
  return folder === 'files' && rest.length === 0 && BULK_NAMES.has(name) ? dataset : null;
}

/** The bulk files of a dataset by name. */
export function bulkFiles(pack: Pick<Pack, 'attributes'>): (readonly [string, DataFile])[] {
  const mapped = publicPoint(pack) !== undefined;
  return ROWS.filter(([, { bulk, geography }]) => bulk && (!geography || mapped));
}

/** The point of a record that everybody may see; undefined: the dataset has no public geography. */
export function publicPoint({ attributes }: Pick<Pack, 'attributes'>) {
  return attributes.find((attribute) => attribute.type === 'geo' && attribute.public);
}

/** Whether records are features: one of their points is public, and no other. */
export const hasFeatures = ({ attributes }: Pick<Pack, 'attributes'>): boolean =>
  attributes.filter((attribute) => attribute.type === 'geo' && attribute.public).length === 1;
