// Thirty questions about each bundled pack, with correct answers from the release by the independent
// evaluator of the tests.
import type { StoredRecord } from '../../data/model/record.ts';
import type { Pack, Value } from '../../packs/define/model.ts';
import { evaluateFacets, evaluateSearch, matching, type SearchQuery } from '../../tests/support/evaluate.ts';
import { evaluateSimilar, evaluateStats } from '../../tests/support/evaluate-analysis.ts';
import type { AgentQuestion, QuestionCondition } from './question.ts';

/** The attributes for the questions of a pack. */
interface Subject {
  noun: string;
  /** Public fields that together identify one record. */
  names: string[];
  /** Enumerations, from coarse to fine; a public number; fields in paid answers only. */
  enums: [string, string];
  number: string;
  paid: string[];
  contains: [field: string, text: string];
  /** Public fields for questions about single records. */
  open: string[];
  compared: string;
  geo: string | null;
}

export const SUBJECTS: Record<string, Subject> = {
  'llm-models': {
    noun: 'AI models with their prices',
    names: ['provider', 'model_id'],
    enums: ['provider', 'kind'],
    number: 'price.input',
    paid: ['price.output', 'max_output_tokens'],
    contains: ['model_id', 'embed'],
    open: ['name', 'context_window'],
    compared: 'price.output',
    geo: null,
  },
  airports: {
    noun: 'airports, airfields and heliports',
    names: ['code'],
    enums: ['country', 'type'],
    number: 'runway_length',
    paid: ['website'],
    contains: ['name', 'international'],
    open: ['name', 'timezone'],
    compared: 'elevation',
    geo: 'location',
  },
  places: {
    noun: 'cities, towns and villages',
    names: ['name', 'admin1', 'country'],
    enums: ['country', 'feature'],
    number: 'population',
    paid: ['elevation', 'timezone'],
    contains: ['name', 'villa'],
    open: ['population', 'country_name'],
    compared: 'timezone',
    geo: 'location',
  },
};

const PREFIX = {
  is: '',
  'is neither': 'not_',
  contains: 'like_',
  'is at least': 'min_',
  'is at most': 'max_',
  'is known': 'has_',
};

/** The conditions in the form of the evaluator, not of the guide. */
function queryOf(where: QuestionCondition[]): SearchQuery {
  return Object.fromEntries(
    where.map(({ field, relation, value }) =>
      relation === 'is within'
        ? ['near', value]
        : [PREFIX[relation] + field, relation === 'is' ? value.replace(/[\\,]/g, '\\$&') : value],
    ),
  );
}

/** A value as text, as in tables. */
export function valueText(value: Value | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value !== 'object') return String(value);
  return 'lat' in value ? `${value.lat},${value.lng}` : `${value.min}–${value.max}`;
}

const sentence = (where: QuestionCondition[]) =>
  where.map(({ field, relation, value }) => `${field} ${relation} ${value}`).join(' and ');

type Asked = Omit<AgentQuestion, 'id' | 'text' | 'truth' | 'where'> & {
  where?: QuestionCondition[];
  truth: (string | Value | undefined)[][];
};

/**
 * Makes the questions of a pack. Ids are hashes, so their order picks random records, the same ones for the
 * same release.
 */
export function agentQuestions(
  pack: Pack,
  records: StoredRecord[],
  subject: Subject = SUBJECTS[pack.id]!,
): AgentQuestion[] {
  const { noun, names, enums, number, paid, contains, open, compared, geo } = subject;
  const [coarse, fine] = enums;
  const drawn = records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const shownOf = (record: StoredRecord, name: string) => valueText(record.attributes[name]);
  const is = (field: string, value: string): QuestionCondition => ({ field, relation: 'is', value });
  const named = (record: StoredRecord) => names.map((name) => is(name, shownOf(record, name)));
  /** Records with these values that their names identify. */
  const some = (count: number, needed: string[], from = 0): StoredRecord[] => {
    const found: StoredRecord[] = [];
    for (const record of drawn.slice(from)) {
      if ([...names, ...needed].some((name) => record.attributes[name] === undefined)) continue;
      if (names.some((name) => /[\\,]/.test(shownOf(record, name)))) continue;
      if (matching(pack, records, queryOf(named(record))).length === 1) found.push(record);
      if (found.length === count) break;
    }
    return found;
  };
  const commonest = (by: string, where: QuestionCondition[] = []) =>
    evaluateFacets(pack, records, { by, ...queryOf(where) }).values;
  const top = (by: string, at: number) => String(commonest(by)[at]?.value);
  const [first, second, third] = [top(coarse, 0), top(coarse, 1), top(coarse, 2)];
  const kind = top(fine, 0);
  const other = top(fine, 1);
  const numbers = evaluateStats(pack, records, { attribute: number }) as unknown as [Record<string, number>];
  const middle = String(numbers[0]['median']);

  const questions: AgentQuestion[] = [];
  const add = (words: string, asked: Asked) => {
    const { where = [], truth, ...rest } = asked;
    const about = where.length > 0 ? ` where ${sentence(where)}` : '';
    questions.push({
      id: `${pack.id}-${questions.length + 1}`,
      text: `Of ${noun}${about}: ${words}?`,
      where,
      ...rest,
      truth: truth.map((row) => row.map((each) => valueText(each as Value))),
    });
  };
  const count = (...where: QuestionCondition[]) =>
    add('how many match', {
      wants: ['how many', 'match'],
      read: ['records match'],
      fields: [],
      where,
      truth: [[matching(pack, records, queryOf(where)).length]],
    });
  const ranked = (highest: boolean, n: number, field: string, where: QuestionCondition[]) => {
    const questionCondition: QuestionCondition = { field, relation: 'is known', value: 'true' };
    const asked = [...where, questionCondition];
    const ids = evaluateSearch(pack, records, { ...queryOf(asked), sort: `${highest ? '-' : ''}${field}` }).slice(0, n);
    const truth = ids.map((id) => records.find((record) => record.id === id)!.attributes[field]);
    add(`the ${n} with the ${highest ? 'highest' : 'lowest'} ${field}`, {
      ...{ wants: ['fields', 'record'], read: [field], fields: [field], where: asked, n },
      ...{ order: { field, highest }, truth: truth.map((value) => [value]) },
    });
  };
  const figure = (figures: string[], where: QuestionCondition[]) => {
    const [row] = evaluateStats(pack, records, { attribute: number, ...queryOf(where) }) as unknown as [
      Record<string, number>,
    ];
    add(`${figures.join(' and ')} of ${number}`, {
      ...{ wants: ['median', 'quartiles'], read: figures, fields: [number], where },
      truth: [figures.map((name) => row[name])],
    });
  };

  add('how many are there in all', {
    wants: ['how many records there are in all'],
    read: ['records'],
    fields: [],
    truth: [[records.length]],
  });
  count(is(coarse, first));
  count(is(coarse, second), is(fine, kind));
  count({ field: number, relation: 'is at least', value: middle }, is(coarse, third));
  count({ field: number, relation: 'is at most', value: middle }, is(fine, other));
  count({ field: contains[0], relation: 'contains', value: contains[1] });
  count({ field: number, relation: 'is known', value: 'false' });
  for (const [by, n, where] of [
    [coarse, 1, []],
    [fine, 3, []],
    [coarse, 2, [is(fine, other)]],
  ] as [string, number, QuestionCondition[]][])
    add(`the ${n} commonest ${by}, with their counts`, {
      ...{ wants: ['commonest'], read: [by, 'records'], fields: [by], where, n },
      truth: commonest(by, where)
        .slice(0, n)
        .map((each) => [each.value, each.count]),
    });
  const single = (record: StoredRecord, fields: string[]) =>
    add(fields.join(' and '), {
      ...{ wants: ['fields', 'record'], read: fields, fields, where: named(record) },
      truth: [fields.map((name) => record.attributes[name])],
    });
  for (const record of some(4, open)) single(record, open);
  for (const record of some(4, paid, Math.floor(drawn.length / 3))) single(record, paid);
  ranked(true, 1, number, [is(coarse, first)]);
  ranked(false, 1, number, [is(coarse, second)]);
  ranked(true, 3, number, [is(fine, kind)]);
  ranked(
    true,
    1,
    paid.find((name) =>
      /^(integer|number|price)$/.test(pack.attributes.find((attribute) => attribute.name === name)!.type),
    ) ?? open[0]!,
    [is(coarse, third)],
  );
  figure(['median'], [is(coarse, first)]);
  figure(['min', 'max'], [is(fine, other)]);
  const groups = evaluateStats(pack, records, { attribute: number, group_by: fine }) as unknown as {
    group: string;
    median: number;
  }[];
  add(`the median ${number} where ${fine} is ${groups[0]!.group}, by ${fine}`, {
    ...{
      wants: ['for each group'],
      read: ['median'],
      fields: [number],
      group: { field: fine, value: groups[0]!.group },
    },
    truth: [[groups[0]!.median]],
  });
  for (const pair of [some(2, [compared]), some(2, [compared], Math.floor(drawn.length / 2))])
    add(`side by side the ${compared} of ${pair.map((each) => sentence(named(each))).join(', and of ')}`, {
      ...{ wants: ['records'], read: [compared], fields: [compared], subjects: pair.map(named) },
      truth: pair.map((record) => [record.attributes[compared]]),
    });
  const [like] = some(1, [], Math.floor(drawn.length / 4));
  // None, where no name is similar enough.
  const nearest = evaluateSimilar(pack, records, like!, { limit: '1' });
  add('which is most like it', {
    ...{ wants: ['most similar'], read: ['slug'], fields: [names[0]!], where: named(like!) },
    truth: nearest.map((similar) => [records.find(({ id }) => id === similar.id)?.slug]),
  });
  if (geo !== null)
    for (const record of some(2, [geo], Math.floor(drawn.length / 5)))
      count({ field: geo, relation: 'is within', value: `${shownOf(record, geo)},50` });
  else {
    count({ field: fine, relation: 'is neither', value: kind }, is(coarse, first));
    count({ field: coarse, relation: 'is neither', value: first }, is(fine, other));
  }
  return questions;
}
