// The texts of record.md and guide.md for a proposal.
import type { AttributeProposal, Proposal } from './proposal.ts';

const count = (n: number, noun: string): string => `${n.toLocaleString('en-US')} ${noun}${n === 1 ? '' : 's'}`;

/** Text that Markdown and Liquid show as it is. */
function plain(text: string, most = 80): string {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/[`|<>{}[\]*_\\]/g, ' ')
    .trim();
  return line.length > most ? `${line.slice(0, most).toWellFormed()}…` : line;
}

/** Attributes of the list at the top of a record. */
const MOST_LISTED = 15;

/** The name of the column, without its unit; the name of the attribute where the column has no words of a person. */
function labelOf({ name, columns, unit }: AttributeProposal): string {
  const [column = '', second] = columns;
  const words = second === undefined && /[^A-Za-z0-9_.]/.test(column) ? plain(column) : '';
  const bare = unit === undefined ? words : words.replace(/\s*\([^()]{1,12}\)$/, '');
  const text = /[\p{L}\p{N}]/u.test(bare) ? bare : name.replace(/[_.]+/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The template of one record. */
export function recordText({ attributes, choices, identity }: Proposal): string {
  const first = attributes.filter(({ name }) => name !== choices.name);
  const listed = [
    ...first.filter(({ name }) => choices.public.includes(name) || identity.attributes.includes(name)),
    ...first.filter(({ name }) => !choices.public.includes(name) && !identity.attributes.includes(name)),
  ].slice(0, MOST_LISTED);
  const lines = listed.map((attributeProposal) => {
    const value = `values['${attributeProposal.name}']`;
    return `{% if ${value} %}- ${labelOf(attributeProposal)}: {{ ${value} }}\n{% endif %}`;
  });
  return `# {{ record.name }}

${lines.join('')}
| attribute | value | source | observed | confidence |
| --- | --- | --- | --- | --- |
{% for row in rows %}| {{ row.attribute }} | {{ row.value }} | [source]({{ row.source_url }}) | {{ row.observed_at }} | {{ row.confidence }} |
{% endfor %}
{{ record.attribution }}
`;
}

/** The guide of the dataset. */
export function guideText(proposal: Proposal, title: string, source: string): string {
  const { attributes, identity, choices, rows, unread } = proposal;
  const named = identity.attributes.map((name) => `\`${name}\``).join(' and ');
  const share = (attributeProposal: AttributeProposal) => attributeProposal.filled / rows;
  const sparse = attributes.filter((attribute) => attribute.filled < rows).sort((a, b) => a.filled - b.filled);
  const queries = firstQueries(proposal);
  return `${plain(title)}: each record is one row of ${plain(source)}, which had ${count(rows, 'row')} when this guide was written. ${named} identif${identity.attributes.length === 1 ? 'ies' : 'y'} a record${choices.name === null ? '' : ` and \`${choices.name}\` names it`}.

## What the values mean

${attributes.map((attribute) => `- \`${attribute.name}\`: ${meaning(attribute, choices.public.includes(attribute.name))}`).join('\n')}
${
  sparse.length === 0
    ? '\nEvery attribute had a value in every row.\n'
    : `\n## What is missing\n\nA missing value means that the source has none. It had none in these shares of the rows:\n\n${sparse
        .slice(0, 20)
        .map(
          (attributeProposal) =>
            `- \`${attributeProposal.name}\`: ${((1 - share(attributeProposal)) * 100).toFixed(1)} %`,
        )
        .join('\n')}\n`
}${
  unread.length === 0
    ? ''
    : `\nColumns of the source that are not published: ${unread
        .slice(0, 20)
        .map(({ column }) => plain(column))
        .join(', ')}.\n`
}
## Good first queries

${queries.map((query) => `- ${query}`).join('\n')}
`;
}

/** One line about an attribute: meaning, and values and spread of a public one, because guides are free. */
function meaning(
  { description, type, counts, distinct, bounds, unit, values, columns }: AttributeProposal,
  isPublic: boolean,
): string {
  const parts = [`${plain(description)}.`];
  if (type === 'enum' && (isPublic || values !== undefined)) {
    const listed = (values ?? [...counts.keys()]).slice(0, 6).map((text) => plain(text, 40));
    parts.push(`One of ${distinct > listed.length ? `${distinct} values, such as ` : ''}${listed.join(', ')}.`);
  }
  if (type === 'strings' && isPublic)
    parts.push(
      `A list, with entries such as ${[...counts.keys()]
        .slice(0, 4)
        .map((text) => plain(text, 40))
        .join(', ')}.`,
    );
  if (isPublic && bounds !== undefined && bounds.min < bounds.max)
    parts.push(
      `From ${bounds.min.toLocaleString('en-US')} to ${bounds.max.toLocaleString('en-US')}${unit === undefined ? '' : ` ${unit}`}.`,
    );
  const column = columns.map((header) => plain(header)).join(', ');
  if (column !== '' && plain(column).toLowerCase() !== plain(description).toLowerCase())
    parts.push(`Column ${column} of the source.`);
  return parts.join(' ');
}

function firstQueries({ attributes, choices, identity }: Proposal): string[] {
  const queries = [`All records of a group: filter by \`${choices.group}\`.`];
  const number = attributes.find(
    (attribute) =>
      ['price', 'number', 'integer'].includes(attribute.type) && !identity.attributes.includes(attribute.name),
  );
  if (number !== undefined)
    queries.push(
      `The greatest values first: \`sort=-${number.name}\`; bounds with \`min_${number.name}\` and \`max_${number.name}\`.`,
    );
  const geo = attributes.find(({ type }) => type === 'geo');
  if (geo !== undefined) queries.push('Around a point: `near=<latitude>,<longitude>,<kilometres>`.');
  if (choices.searchable.length > 0)
    queries.push(`By words of ${choices.searchable.map((name) => `\`${name}\``).join(', ')}: \`q\`.`);
  return queries;
}
