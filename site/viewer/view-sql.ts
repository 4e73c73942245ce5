// The view of the table as a statement for the SQL console.

import type { Model, ModelAttribute, ModelFilter } from '../../api/pages/viewer-model.ts';
import { columnsOf, listOf, selectionOf, sortOf } from '../../api/pages/viewer-state.ts';
import { flatColumns, recordColumn } from '../../data/write/csv.ts';
import { writtenName as identifier, writtenText as literal, tableName } from '../../data/write/sql-names.ts';
import { fold, words } from '../../packs/define/text.ts';
import { PERIOD_LENGTHS } from '../../packs/define/times.ts';

/** Rows of the statement: enough to look at, and few enough for the service. */
const MOST = 1000;

const folded = (column: string) => `lower(strip_accents(${column}))`;
const listed = (values: readonly string[]) => values.map((value) => literal(fold(value))).join(', ');

type ViewModel = Pick<Model, 'dataset' | 'attributes' | 'filters' | 'columns' | 'sort' | 'geo'>;

/**
 * A statement that selects the rows of a view in its order, with the shown columns. Parameters that SQL over the public
 * values cannot express, such as a place given by the name of a record, are listed in a comment.
 *
 * @example
 * ```ts
 * viewQuery(new URLSearchParams('country=ch&min_elevation=400'), model);
 * // SELECT slug, name, … WHERE lower(strip_accents(country)) IN ('ch') AND elevation >= 400 …
 * ```
 */
export function viewQuery(state: URLSearchParams, model: ViewModel): string {
  const omitted: string[] = [];
  const conditions = [...selectionOf(state)].flatMap(([name, value]) => {
    const condition = conditionOf(name, value, model);
    if (condition === null) omitted.push(`${name}=${value.replace(/[\r\n]+/g, ' ')}`);
    return condition ?? [];
  });
  const shown = columnsOf(state, model).flatMap((name) => {
    const attribute = model.attributes.find((candidate) => candidate.name === name);
    return attribute?.public ? flatColumns(attribute) : [];
  });
  const columns = [...new Set([recordColumn(model, 'slug'), recordColumn(model, 'name'), ...shown])];
  return [
    ...omitted.map((text) => `-- not part of this statement: ${text}`),
    `SELECT ${columns.map(identifier).join(', ')}`,
    `FROM ${identifier(tableName(model.dataset))}`,
    ...(conditions.length === 0 ? [] : [`WHERE ${conditions.join('\n  AND ')}`]),
    `ORDER BY ${orderOf(sortOf(state, model), model)}`,
    `LIMIT ${MOST}`,
  ].join('\n');
}

function orderOf(sort: string, model: ViewModel): string {
  const key = sort.replace(/^-/, '');
  const attribute = model.attributes.find(({ name }) => name === key);
  const column = attribute === undefined ? recordColumn(model, 'quality_score') : flatColumns(attribute)[0]!;
  if (attribute === undefined && key === 'updated')
    return `${identifier(recordColumn(model, 'updated_at'))}${sort === key ? '' : ' DESC'}`;
  const descending = sort !== key || key === 'relevance';
  return `${identifier(column)}${descending ? ' DESC' : ''} NULLS LAST`;
}

/** The condition of a parameter; null: SQL has none for it. */
function conditionOf(name: string, value: string, model: ViewModel): string | null {
  const filter = model.filters.find((candidate) => candidate.name === name);
  const attribute = model.attributes.find((candidate) => candidate.name === filter?.attribute);
  if (filter !== undefined && attribute !== undefined)
    return attribute.public ? attributeCondition(filter, attribute, value) : null;
  if (name === 'q')
    return (
      words(value)
        .map((word) => hasWord(word, model))
        .join(' AND ') || null
    );
  if (name === 'ids') {
    const refs = listOf(value)
      .map((ref) => literal(ref.toLowerCase()))
      .join(', ');
    return `(${['id', 'slug'].map((column) => `${identifier(recordColumn(model, column))} IN (${refs})`).join(' OR ')})`;
  }
  if (name === 'min_quality')
    return isNumber(value) ? `${identifier(recordColumn(model, 'quality_score'))} >= ${value}` : null;
  if (name === 'updated_since')
    return `${identifier(recordColumn(model, 'updated_at'))} >= TIMESTAMP ${literal(value)}`;
  return model.geo === null ? null : placeCondition(name, value, model.geo);
}

const isNumber = (text: string) => text !== '' && Number.isFinite(Number(text));

function placeCondition(name: string, value: string, geo: string): string | null {
  const [lat, lng] = flatColumns({ name: geo, type: 'geo' }).map(identifier);
  const numbers = value.split(',').map((text) => text.trim());
  if (!numbers.every(isNumber)) return null;
  if (name === 'near' && numbers.length === 3)
    return `2 * 6371.0088 * asin(sqrt(sin(radians(${lat} - ${numbers[0]}) / 2) ** 2 + cos(radians(${numbers[0]})) * cos(radians(${lat})) * sin(radians(${lng} - ${numbers[1]}) / 2) ** 2)) <= ${numbers[2]}`;
  if (name !== 'bbox' || numbers.length !== 4) return null;
  const [west, south, east, north] = numbers;
  // The antimeridian is both 180 and -180.
  const edge = Number(west) === -180 ? ` OR ${lng} = 180` : Number(east) === 180 ? ` OR ${lng} = -180` : '';
  const across = Number(west) > Number(east);
  const within = across ? `${lng} >= ${west} OR ${lng} <= ${east}` : `${lng} BETWEEN ${west} AND ${east}${edge}`;
  return `${lat} BETWEEN ${south} AND ${north} AND (${within})`;
}

/** Whether a word of the name or of a searched attribute begins with `word`. */
function hasWord(word: string, model: ViewModel): string {
  const searched = model.attributes.filter((attribute) => attribute.public && attribute.searchable);
  const texts = searched.map(({ name, type }) =>
    type === 'strings' ? `array_to_string(${identifier(name)}, ' ')` : identifier(name),
  );
  const all = `concat_ws(' ', ${[identifier(recordColumn(model, 'name')), ...texts].join(', ')})`;
  return `regexp_matches(${folded(all)}, ${literal(`(^|[^\\pL\\pN])${word}`)})`;
}

function attributeCondition({ operator, type }: ModelFilter, attribute: ModelAttribute, value: string): string | null {
  const ends = flatColumns(attribute).map(identifier);
  const [low = '', high = low] = ends;
  if (operator === 'has') return `${low} IS ${/^(true|1|yes)$/i.test(value) ? 'NOT ' : ''}NULL`;
  if (operator === 'min' || operator === 'max')
    return boundCondition(operator === 'min' ? [high, '>='] : [low, '<='], type, value);
  if (operator === 'like') {
    const pattern = literal(fold(value));
    if (attribute.type === 'strings') return `contains(${folded(`array_to_string(${low}, chr(10))`)}, ${pattern})`;
    return `contains(${folded(low)}, ${pattern})`;
  }
  const equal = equalCondition(low, attribute, type, listOf(value));
  return operator === 'not' && equal !== null ? `(${low} IS NULL OR NOT (${equal}))` : equal;
}

/** A day as an upper bound of times includes all of it. */
function boundCondition(
  [column, comparison]: readonly [string, string],
  type: ModelFilter['type'],
  value: string,
): string | null {
  if (type === 'date') return `${column} ${comparison} DATE ${literal(value)}`;
  if (type !== 'datetime') return isNumber(value) ? `${column} ${comparison} ${value}` : null;
  const isDay = value.length === PERIOD_LENGTHS.day;
  if (comparison === '<=' && isDay) return `${column} < DATE ${literal(value)} + INTERVAL 1 DAY`;
  return `${column} ${comparison} TIMESTAMP ${literal(value.replace(/Z$/, ''))}`;
}

function equalCondition(
  column: string,
  attribute: ModelAttribute,
  type: ModelFilter['type'],
  values: readonly string[],
): string | null {
  if (attribute.type === 'strings')
    return `list_has_any(list_transform(${column}, lambda entry: ${folded('entry')}), [${listed(values)}])`;
  if (type === 'integer' || type === 'number')
    return values.every(isNumber) ? `${column} IN (${values.join(', ')})` : null;
  if (type === 'boolean')
    return `${column} IN (${values.map((value) => String(/^(true|1|yes)$/i.test(value))).join(', ')})`;
  if (type === 'date') return `${column} IN (${values.map((value) => `DATE ${literal(value)}`).join(', ')})`;
  if (type === 'datetime')
    return `(${values.map((value) => (value.length === PERIOD_LENGTHS.day ? `${column}::DATE = DATE ${literal(value)}` : `${column} = TIMESTAMP ${literal(value.replace(/Z$/, ''))}`)).join(' OR ')})`;
  return `${folded(column)} IN (${listed(values)})`;
}
