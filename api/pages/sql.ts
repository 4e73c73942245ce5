// Example queries of the SQL console for a dataset, from its schema.
import { flatColumns, recordColumn } from '../../data/write/csv.ts';
import { tableName, writtenName } from '../../data/write/sql-names.ts';
import type { Attribute, Pack } from '../../packs/define/model.ts';

/** A query that runs on any release of its dataset, whatever the values are. */
export interface SqlExample {
  title: string;
  sql: string;
}

/** Stands for the table of the dataset in the texts below. */
const TABLE = '{table}';

/** Adds the condition that a source still lists the record, where the pack says which are gone. */
function ofListed({ title, sql }: SqlExample, { attributes, gone }: Pick<Pack, 'attributes' | 'gone'>): SqlExample {
  const attribute = attributes.find(({ name, public: open }) => open && name === gone?.attribute);
  if (gone === null || attribute === undefined) return { title, sql };
  const listed = `${writtenName(flatColumns(attribute)[0]!)} IS DISTINCT FROM '${gone.value.replaceAll("'", "''")}'`;
  const [filtered, plain] = [sql.replace('\nWHERE ', `\nWHERE ${listed} AND `), `FROM ${TABLE}`];
  return { title, sql: filtered === sql ? sql.replace(plain, `${plain}\nWHERE ${listed}`) : filtered };
}

/** Example queries, the simplest first. */
export function sqlExamples(pack: Pick<Pack, 'id' | 'attributes' | 'group_by' | 'gone'>): SqlExample[] {
  const open = pack.attributes.filter((attribute) => attribute.public);
  const of = (...types: Attribute['type'][]) => open.find(({ type }) => types.includes(type));
  const nameColumn = writtenName(open.some(({ name }) => name === 'name') ? 'name' : recordColumn(pack, 'name'));
  const group =
    open.find(({ name, type }) => name === pack.group_by && type !== 'geo' && type !== 'price') ?? of('enum');
  const by = group === undefined ? [] : [writtenName(flatColumns(group)[0]!)];
  // An attribute with a unit is a quantity; one without may be an identifier.
  const number = open.find(({ type, unit }) => unit !== null && (type === 'integer' || type === 'number'));
  const parts = { number, price: of('price'), geo: of('geo'), list: of('strings') };
  const ofRecords = [
    best(open, nameColumn),
    ...(group ? [counted(group, by[0]!)] : []),
    ...(number ? [highest(number, [nameColumn, ...by])] : []),
    ...(number && group ? [spread(number, group, by[0]!)] : []),
    ...(parts.price ? [cheapest(parts.price, [nameColumn, ...by])] : []),
    ...(parts.geo ? [squares(parts.geo)] : []),
    ...(parts.list ? [commonest(parts.list)] : []),
  ];
  const examples = [
    ...ofRecords.map((example) => ofListed(example, pack)),
    { title: 'New and changed values by month', sql: byMonth() },
    { title: 'Sources of every attribute', sql: bySource() },
  ];
  const named = (_: string, end = '') => writtenName(tableName(pack.id) + end);
  return examples.map(({ title, sql }) => ({ title, sql: sql.replace(/\{table\}(_\w+)?/g, named) }));
}

const lines = (...parts: string[]) => parts.join('\n');
const unlike = (columns: string[]) => [...new Set(columns)].join(', ');

function byMonth(): string {
  return lines(
    "SELECT date_trunc('month', valid_from) AS month, attribute, count(*) AS found",
    `FROM ${TABLE}_history`,
    'GROUP BY ALL',
    'ORDER BY month, attribute',
  );
}

function bySource(): string {
  return lines(
    "SELECT attribute, regexp_extract(source_url, '^https?://([^/]+)', 1) AS source, count(*) AS found,",
    '       round(avg(confidence), 3) AS confidence, max(observed_at) AS checked',
    `FROM ${TABLE}_provenance`,
    'GROUP BY ALL',
    'ORDER BY found DESC',
  );
}

function best(open: readonly Attribute[], nameColumn: string): SqlExample {
  const few = open.filter(({ type }) => type !== 'text' && type !== 'geo').slice(0, 4);
  const columns = unlike([nameColumn, ...few.flatMap(flatColumns).map(writtenName)].slice(0, 6));
  const sql = lines(`SELECT ${columns}, quality_score`, `FROM ${TABLE}`, 'ORDER BY quality_score DESC', 'LIMIT 20');
  return { title: 'Most complete records', sql };
}

function counted(group: Attribute, by: string): SqlExample {
  const sql = lines(
    `SELECT ${by}, count(*) AS found, round(avg(completeness), 3) AS complete`,
    `FROM ${TABLE}`,
    'GROUP BY ALL',
    'ORDER BY found DESC',
  );
  return { title: `Records by ${group.name}`, sql };
}

function highest(number: Attribute, columns: string[]): SqlExample {
  const value = writtenName(number.name);
  const sql = lines(
    `SELECT ${unlike([...columns, value])}`,
    `FROM ${TABLE}`,
    `WHERE ${value} IS NOT NULL`,
    `ORDER BY ${value} DESC`,
    'LIMIT 20',
  );
  return { title: `Highest ${number.name}`, sql };
}

function spread(number: Attribute, group: Attribute, by: string): SqlExample {
  const value = writtenName(number.name);
  const sql = lines(
    `SELECT ${by}, count(${value}) AS known,`,
    `       round(quantile_cont(${value}, 0.25), 2) AS q1, round(median(${value}), 2) AS middle,`,
    `       round(quantile_cont(${value}, 0.75), 2) AS q3`,
    `FROM ${TABLE}`,
    'GROUP BY ALL',
    `HAVING count(${value}) > 0`,
    'ORDER BY middle DESC',
  );
  return { title: `Spread of ${number.name} by ${group.name}`, sql };
}

function cheapest(price: Attribute, columns: string[]): SqlExample {
  const ends = flatColumns(price).map(writtenName);
  const sql = lines(
    `SELECT ${unlike([...columns, ...ends])}`,
    `FROM ${TABLE}`,
    `WHERE ${ends[0]} > 0`,
    `ORDER BY ${ends[0]}`,
    'LIMIT 20',
  );
  return { title: `Lowest ${price.name}`, sql };
}

function squares(geo: Attribute): SqlExample {
  const [lat, lng] = flatColumns(geo).map(writtenName);
  const sql = lines(
    `SELECT floor(${lat} / 10) * 10 AS south, floor(${lng} / 10) * 10 AS west, count(*) AS found`,
    `FROM ${TABLE}`,
    `WHERE ${lat} IS NOT NULL`,
    'GROUP BY ALL',
    'ORDER BY found DESC',
  );
  return { title: 'Map (10° grid)', sql };
}

function commonest(list: Attribute): SqlExample {
  const sql = lines(
    'SELECT entry, count(*) AS records',
    `FROM (SELECT unnest(${writtenName(list.name)}) AS entry FROM ${TABLE})`,
    'GROUP BY ALL',
    'ORDER BY records DESC',
    'LIMIT 30',
  );
  return { title: `Commonest ${list.name}`, sql };
}
