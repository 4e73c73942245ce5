// The text of pack.ts for a proposal.
import type { DeclaredKind } from '../../../packs/define/sources.ts';
import type { AttributeProposal, Proposal } from './proposal.ts';
import { exampleOf } from './records.ts';

/** Text that is already code: a function, a call. */
class Code {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const WIDTH = 120;

/** A text in single quotes. */
function quotedCode(text: string): string {
  const json = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  // Line separators are escaped too: some tools treat them as line ends.
  const plain = json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  if (text.includes("'") && !text.includes('"')) return `"${plain}"`;
  return `'${plain.replaceAll("'", "\\'")}'`;
}

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quotedCode(name));

function inline(value: unknown): string {
  if (value instanceof Code) return value.text;
  if (typeof value === 'string') return quotedCode(value);
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = entries(value).map(([name, member]) => `${key(name)}: ${inline(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const entries = (value: object) => Object.entries(value).filter(([, member]) => member !== undefined);

/**
 * A value as code. `depth` is the number of levels of indentation, `before` the characters in front of it on
 * its line. Objects down to `open` levels have one member on each line.
 */
function codeText(value: unknown, depth = 0, before = 0, open = 0): string {
  const short = inline(value);
  const object = typeof value === 'object' && value !== null && !(value instanceof Code);
  if (!object || (short.length + before < WIDTH && (open === 0 || Array.isArray(value)) && !short.includes('\n')))
    return short;
  const indent = '  '.repeat(depth + 1);
  const end = '  '.repeat(depth);
  if (Array.isArray(value)) {
    const lines = value.map((item) => `${indent}${codeText(item, depth + 1, indent.length)},\n`);
    return `[\n${lines.join('')}${end}]`;
  }
  const lines = entries(value).map(([name, member]) => {
    const start = `${indent}${key(name)}: `;
    return `${start}${codeText(member, depth + 1, start.length, Math.max(0, open - 1))},\n`;
  });
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${end}}`;
}

/** What the publisher decides, and where the rows are. */
export interface PackFacts {
  id: string;
  title: string;
  license: { name: string; url: string };
  attribution: string;
  /** Home page of the source, where values can be checked. */
  homepage: string;
  source: DeclaredPlace;
  /** Whether the identity passes the test `unique`. */
  unique: boolean;
  /** Shares of wrong values and rows that a reading may have. */
  tolerate: { values: number; rows: number } | null;
  /** Share of the records that one file may lack of those of the file before; null: the default. */
  max_drop: number | null;
}

/** Where the rows are: the call in `from`. */
export interface DeclaredPlace {
  kind: DeclaredKind;
  /** Path or address; null for a query to PostgreSQL. */
  target: string | null;
  /** Members besides `attributes`. */
  options: Record<string, unknown>;
  /** Whether each reading lists all records. */
  complete: boolean;
}

const NUMBER_IN = `/** The number in a text such as \`1.299,00 €\`; NaN, which is refused, when there is none. */
function numberIn(cell: unknown, sign: string, decimal: '.' | ',', missing: string[] = []): number | undefined {
  const text = String(cell ?? '').trim();
  if (text === '' || missing.includes(text)) return undefined;
  const plain = text.replaceAll(sign, '').replace(/[\\s'’]/g, '');
  return Number(decimal === ',' ? plain.replaceAll('.', '').replace(',', '.') : plain.replaceAll(',', ''));
}

`;

const INITIAL = `/** The first letter or digit of a cell, in upper case. */
function initialOf(cell: unknown): string | undefined {
  if (cell === undefined || cell === null || cell === '') return undefined;
  return /[\\p{L}\\p{N}]/u.exec(String(cell))?.[0].toUpperCase() ?? '#';
}

`;

/** Hours of a year: how long a value counts as up to date. */
const SLA = 8760;
/** Filters that tools describe well; attributes after these can be made filterable in pack.ts. */
const MOST_FILTERS = 60;

/** The whole file. */
export function packText(proposal: Proposal, facts: PackFacts): string {
  const affixes = proposal.attributes.some(({ reading }) => reading.affix !== undefined);
  const members = [
    `title: ${quotedCode(facts.title)},`,
    `description: ${quotedCode(descriptionOf(proposal, facts))},`,
    `license: ${codeText(facts.license, 1, 11)},`,
    `attribution: ${quotedCode(facts.attribution)},`,
    sourcesText(proposal, facts),
    attributesText(proposal),
    identityText(proposal),
    ...(proposal.listed === null ? [] : [`gone: { attribute: '${proposal.listed}', value: 'gone' },`]),
    '// A public attribute with few different values: showcases have records of each.',
    `group_by: ${quotedCode(proposal.choices.group)},`,
    `serving: ${codeText(servingOf(proposal), 1, 11)},`,
    `compare: ${codeText(proposal.choices.compare, 1, 11)},`,
    '// EUR per call.',
    'prices: { search: 0.008, get: 0.004, facts: 0.01, compare: 0.012, stats: 0.015 },',
    "schedule: '0 3 * * *',",
    '// A release that fails one of these is not published; the last good one stays.',
    `tests: ${testsText(proposal, facts)},`,
  ];
  return [
    `// ${facts.title.replace(/\s+/g, ' ')}: written by \`npm run pack -- from\`, to be edited. See docs/packs.md.\n`,
    `import { ${facts.source.kind}, definePack } from 'dataset-register/pack';\n\n`,
    affixes ? NUMBER_IN : '',
    proposal.initialOf === null ? '' : INITIAL,
    `export default definePack({\n  ${members.join('\n  ')}\n});\n`,
  ].join('');
}

/** A sentence with the first attributes. */
function descriptionOf({ attributes, choices }: Proposal, { title }: PackFacts): string {
  const shown = attributes.filter((attribute) => choices.public.includes(attribute.name)).slice(0, 5);
  const rest = attributes.length - shown.length;
  const names = shown.map((attributeProposal) => attributeProposal.name.replace(/[_.]+/g, ' '));
  return `${title}: ${names.join(', ')}${rest > 0 ? ` and ${rest} more attribute${rest === 1 ? '' : 's'}` : ''}.`;
}

function sourcesText(proposal: Proposal, facts: PackFacts): string {
  const { source, tolerate, max_drop } = facts;
  const options = codeText({ ...readingOptions(proposal, source.kind), ...source.options }, 3, 20, 1);
  const first = source.target === null ? '' : `${quotedCode(source.target)}${options === '{}' ? '' : ', '}`;
  const lines = [
    'sources: {',
    `  ${/^[a-z]\w*$/.test(facts.id) ? facts.id : quotedCode(facts.id)}: {`,
    `    title: ${quotedCode(facts.title)},`,
    `    url: ${quotedCode(facts.homepage)},`,
    `    license: ${quotedCode(facts.license.name)},`,
    '    trust: 0.9,',
    ...(source.complete
      ? ['    // Each reading lists all records, so a missing record is gone.', '    complete: true,']
      : []),
    ...(max_drop === null ? [] : [`    max_drop: ${max_drop},`]),
    ...(tolerate === null
      ? []
      : [
          '    // Today some cells or rows cannot be read; a reading with more of them stops the run.',
          `    tolerate: ${codeText(tolerate)},`,
        ]),
    ...updatedLines(proposal, source),
    `    from: ${source.kind}(${first}${options === '{}' ? '' : options}),`,
    '  },',
    '},',
  ];
  return lines.join('\n  ');
}

/** Names of a column that marks removed rows, so that rows are not deleted. */
const REMOVED = /^(?:is_)?(?:deleted|removed|archived)(?:_(?:at|on|date))?$/;

/** The column of `cursor`: of a query whose removed rows stay, and have a mark; undefined: all rows are read. */
export function cursorOf({ attributes, updated, timed }: Proposal, kind: DeclaredKind): string | undefined {
  const marked = kind === 'postgres' && timed && attributes.some(({ name }) => REMOVED.test(name));
  return marked ? attributes.find(({ name }) => name === updated)!.columns[0] : undefined;
}

/** Comments with members that a time of the last change makes possible. */
function updatedLines(proposal: Proposal, { kind, options }: DeclaredPlace): string[] {
  const updated = proposal.attributes.find(({ name }) => name === proposal.updated);
  if (updated === undefined) return [];
  const [column] = updated.columns;
  const observed = [
    '    // Add to `from`, if the values of a row were checked at this time; then their age counts from it:',
    `    // observed_at: ${inline({ column, date: updated.reading.date })},`,
  ];
  const cursor = [
    '    // Add to `from`, to read only the rows that changed since the last night; removed rows then stay, so',
    '    // remove `complete`:',
    `    // cursor: ${inline(column)},`,
  ];
  return [
    ...(proposal.timed && options['observed_at'] === undefined ? [] : observed),
    ...(kind === 'postgres' && cursorOf(proposal, kind) === undefined ? cursor : []),
  ];
}

/** Members of the source that say how its columns are read. */
function readingOptions(proposal: Proposal, kind: DeclaredKind): Record<string, unknown> {
  const { attributes, decimal, initialOf, listed, choices, timezone, updated, timed } = proposal;
  const common = commonMissing(attributes);
  const row = attributes.find(({ name }) => name === updated);
  const columns: Record<string, unknown> = {};
  for (const attribute of attributes) {
    const rule = ruleOf(attribute, decimal, common);
    if (rule !== null) columns[attribute.name] = rule;
  }
  if (initialOf !== null) {
    const column = attributes.find(({ name }) => name === initialOf)!.columns[0]!;
    columns[choices.group] = new Code(`(row) => initialOf(row[${quotedCode(column)}])`);
  }
  if (listed !== null) columns[listed] = { constant: 'listed' };
  return {
    decimal: decimal ?? undefined,
    timezone: attributes.some(({ reading }) => reading.zoneless) ? (timezone ?? 'UTC') : undefined,
    observed_at: timed ? { column: row?.columns[0], date: row?.reading.date } : undefined,
    cursor: cursorOf(proposal, kind),
    missing: common.length === 0 ? undefined : common,
    attributes: Object.keys(columns).length === 0 ? undefined : columns,
  };
}

/** Texts for "no value" that several columns have. */
function commonMissing(attributes: readonly AttributeProposal[]): string[] {
  const counts = new Map<string, number>();
  for (const { missing, type } of attributes)
    for (const text of missing) counts.set(text, (counts.get(text) ?? 0) + (type === 'geo' ? 2 : 1));
  return [...counts].filter(([, count]) => count > 1).map(([text]) => text);
}

/** What the attribute is read from; null when the column of its name is read as it is. */
function ruleOf(
  { name, type, columns, reading, index }: AttributeProposal,
  decimal: '.' | ',' | null,
  common: readonly string[],
): unknown {
  const [column, second] = columns;
  if (type === 'geo') return { lat: column, lng: second };
  if (column === undefined || index === null) return null;
  const texts = (reading.missing ?? []).filter((text) => !common.includes(text));
  if (reading.affix !== undefined) {
    const rest = reading.missing === undefined ? '' : `, ${codeText(reading.missing)}`;
    const sign = `${quotedCode(reading.affix)}, ${quotedCode(reading.decimal ?? '.')}`;
    return new Code(`(row) => numberIn(row[${quotedCode(column)}], ${sign}${rest})`);
  }
  const rule = {
    column: column === name ? undefined : column,
    decimal: reading.decimal === (decimal ?? undefined) ? undefined : reading.decimal,
    thousands: reading.thousands,
    date: reading.date,
    missing: texts.length === 0 ? undefined : texts,
    multiply: reading.multiply,
    truths: reading.truths,
    separator: reading.separator,
  };
  const count = Object.values(rule).filter((setting) => setting !== undefined).length;
  if (count === 0) return null;
  return count === 1 && rule.column !== undefined ? rule.column : rule;
}

function attributesText({ attributes, choices }: Proposal): string {
  let filters = 0;
  const objects = Object.fromEntries(
    attributes.map((attribute) => {
      const filterable = attribute.type !== 'text' && attribute.type !== 'url' && ++filters <= MOST_FILTERS;
      const isPublic = choices.public.includes(attribute.name);
      return [
        attribute.name,
        {
          type: attribute.type,
          unit: attribute.unit,
          currency: attribute.currency,
          description: attribute.description,
          example: exampleOf(attribute, isPublic),
          values: attribute.values,
          public: isPublic || undefined,
          filterable: filterable || undefined,
          searchable: choices.searchable.includes(attribute.name) || undefined,
          sla: SLA,
        },
      ];
    }),
  );
  return `attributes: ${codeText(objects, 1, 14, 2)},`;
}

function identityText({ identity, choices, attributes }: Proposal): string {
  const parts: string[] = [`attributes: ${codeText(identity.attributes, 2, 16)}`];
  const joined = identity.attributes.map((name) => `id[${quotedCode(name)}]`);
  if (identity.exact) {
    const text = joined.map((column) => `\${${column}}`).join('/');
    parts.push('// Letter case and accents distinguish records.', `key: (id) => \`${text}\``);
  }
  const title = attributes.find(({ name }) => name === choices.name);
  if (title !== undefined && title.distinct < title.filled / 2 && !identity.attributes.includes(title.name)) {
    const texts = [`values[${quotedCode(title.name)}]`, ...joined].join(', ');
    parts.push('// Many records have the same name.', `name: (id, values) => [${texts}].filter(Boolean).join(', ')`);
  } else if (title !== undefined && title.name !== 'name') {
    parts.push(`name: (id, values) => String(values[${quotedCode(title.name)}] ?? ${joined[0]})`);
  } else if (title === undefined && joined.length > 1) {
    parts.push(`name: (id) => [${joined.join(', ')}].join(', ')`);
  }
  if (parts.length === 1 && parts[0]!.length < 90) return `identity: { ${parts[0]} },`;
  return `identity: {\n${parts.map((part) => `    ${part}${part.startsWith('//') ? '' : ','}\n`).join('')}  },`;
}

function servingOf({ choices }: Proposal): Record<string, unknown> {
  return { showcase: { per_group: 1 }, prominence: choices.prominence ?? undefined };
}

/** Fill tests that a pack begins with. */
const MOST_FILLS = 20;

function testsText({ attributes, identity, rows }: Proposal, { unique }: PackFacts): string {
  const full = attributes.filter(
    (attribute) =>
      attribute.filled === rows && attribute.columns.length > 0 && !identity.attributes.includes(attribute.name),
  );
  const closed = attributes.filter((attribute) => attribute.values !== undefined && attribute.columns.length > 0);
  const tests = [
    { kind: 'rows', min: Math.max(1, Math.floor(identity.records * 0.9)) },
    ...(identity.attributes.length === 1 && !identity.exact && unique
      ? [{ kind: 'unique', attribute: identity.attributes[0]! }]
      : []),
    ...full.slice(0, MOST_FILLS).map(({ name }) => ({ kind: 'fill', attribute: name, min: 0.95 })),
    ...closed.map(({ name, values }) => ({ kind: 'accepted', attribute: name, values })),
  ];
  return `[\n${tests.map((test) => `    ${codeText(test, 2, 4)},\n`).join('')}  ]`;
}
