// The model of a dataset for its viewer, made by the build.
import type { SiteDataset } from '../../api/pages/site.ts';
import { statsOf } from '../../api/pages/viewer-cells.ts';
import type { ColumnStats, Model } from '../../api/pages/viewer-model.ts';
import { ANALYSIS_BOUNDS } from '../../data/input/analysis-parameters.ts';
import { outlines } from './land.ts';

/** Columns shown by default after the name: each is read completely when a view is sorted or filtered. */
const COLUMNS = { least: 5, most: 7 };

/** Attributes for the columns: public ones with a value in most records, the distinguishing ones first. */
function defaultColumns({ attributes, compare, group_by, prominence, profile, rows }: SiteDataset): string[] {
  const filled = new Map(profile.map(({ name, fill_rate }) => [name, fill_rate ?? 0]));
  const names = new Set(rows.map(({ name }) => name));
  const ranked = [
    ...new Set([group_by, ...(prominence ? [prominence] : []), ...compare, ...attributes.map(({ name }) => name)]),
  ];
  const open = ranked.filter((name) => {
    const attribute = attributes.find((candidate) => candidate.name === name);
    if (!attribute?.public || attribute.type === 'text' || (filled.get(name) ?? 0) < 0.2) return false;
    // The name of a record is a column of its own.
    return !rows.every(({ attributes: values }) => names.has(String(values[name] ?? '')));
  });
  const telling = open.filter((name) => name === group_by || name === prominence || compare.includes(name));
  return open.slice(0, Math.min(COLUMNS.most, Math.max(COLUMNS.least, telling.length)));
}

/** `links` are the prefixed paths of the site. */
export function modelOf(dataset: SiteDataset, base_url: string, href: (path: string) => string): Model {
  const { id, attributes, filters, prominence, records, prices } = dataset;
  const geo = attributes.find(({ type, public: open }) => type === 'geo' && open)?.name ?? null;
  const stats: Record<string, ColumnStats> = {};
  for (const one of dataset.profile) if (one.public) stats[one.name] = statsOf(one);
  return {
    dataset: id,
    api: `${base_url}/v1/${id}`,
    pages: href(`/datasets/${id}/`),
    compare: { path: href(`/compare/${id}`), most: ANALYSIS_BOUNDS.compare },
    files: dataset.files.map(({ name, title }) => ({ name, title })),
    land:
      geo === null
        ? null
        : { world: href(`/assets/${outlines().name}`), zoomed: href(`/assets/${outlines('zoomed').name}`) },
    records,
    attributes: attributes.map(
      ({ name, label, type, unit, description, public: open, filterable, searchable, vocabulary }) => {
        return {
          name,
          ...(label === undefined ? {} : { label }),
          type,
          unit,
          description,
          public: open,
          filterable,
          searchable,
          ...(vocabulary === null ? {} : { vocabulary }),
        };
      },
    ),
    filters: filters.map(({ name, attribute, operator, type }) => ({ name, attribute, operator, type })),
    columns: defaultColumns(dataset),
    stats,
    choices: dataset.choices,
    sort: prominence === null ? '-quality' : `-${prominence}`,
    geo,
    price: prices.find(({ operation }) => operation === 'search')?.eur ?? 0,
  };
}
