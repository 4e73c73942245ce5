// Input of the near misses: the published attributes, filters, values and records of a register.

/** Sends a request below the base URL; the transport adds a key. */
export type Ask = (path: string, body?: unknown) => Promise<{ status: number; body: Record<string, unknown> }>;

export interface AttributeInfo {
  name: string;
  type: string;
  unit: string | null;
  public: boolean;
  filterable: boolean;
}

export interface FilterInfo {
  name: string;
  attribute: string;
  operator: string;
}

export interface DatasetInfo {
  id: string;
  attributes: AttributeInfo[];
  filters: FilterInfo[];
  slugs: string[];
  /** The most frequent values of each countable public attribute. */
  values: Record<string, string[]>;
  /** Columns of a comparison. */
  columns: string[];
}

const COUNTED = ['string', 'enum', 'strings'];

/** Reads one dataset through the free operations and one search. */
async function datasetInfo(ask: Ask, id: string): Promise<DatasetInfo> {
  const schema = (await ask(`/v1/${id}/schema`)).body as unknown as {
    attributes: AttributeInfo[];
    filters: FilterInfo[];
  };
  const found = (await ask(`/v1/${id}/entities?limit=12&fields=name`)).body['items'] as { slug: string }[];
  const values: Record<string, string[]> = {};
  for (const { name, type, public: open, filterable } of schema.attributes) {
    if (!open || !filterable || !COUNTED.includes(type)) continue;
    const { body } = await ask(`/v1/${id}/facets?by=${name}&limit=40`);
    values[name] = (body['values'] as { value: unknown }[]).map(({ value }) => String(value));
  }
  const slugs = found.map(({ slug }) => slug);
  const { body } = await ask(`/v1/${id}/compare?ids=${slugs[0]}`);
  const { attributes, filters } = schema;
  return { id, attributes, filters, slugs, values, columns: body['columns'] as string[] };
}

/** Every dataset of a register. */
export async function readWorld(ask: Ask): Promise<DatasetInfo[]> {
  const { datasets } = (await ask('/v1/datasets')).body as { datasets: { id: string }[] };
  const all: DatasetInfo[] = [];
  for (const { id } of datasets) all.push(await datasetInfo(ask, id));
  return all.sort((a, b) => (a.id < b.id ? -1 : 1));
}
