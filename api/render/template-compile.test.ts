// Compiled templates print the same bytes as LiquidJS, for all values.
import fc from 'fast-check';
import { Liquid } from 'liquidjs';
import { expect, test } from 'vitest';
import { compilePage } from './template-compile.ts';

const liquid = new Liquid({
  outputEscape: (value: unknown) => (value === null || value === undefined ? '' : `<${String(value)}>`),
  ownPropertyOnly: true,
});

const TEMPLATES = [
  '# {{ record.name }}\n{% if values["price.input"] %}- {{ values["price.input"] }}{% endif %}\n',
  '{% for row in rows %}| {{ row.attribute }} | {{ row.value | upcase }} |\n{% else %}nothing{% endfor %}',
  '{% if record.name == "a" %}A{% elsif record.age > 3 and rows.size > 1 %}B{% else %}C{% endif %}',
  '{% unless record.verified %}not {% else %}is {% endunless %}verified {{ rows.first.value }} {{ rows.last.value }}',
  '{% for row in rows %}{% for other in rows %}{{ row.value }}{{ other.value }} {% endfor %}{% endfor %}{{ row.value }}',
  '{{ record.name | default: "none" | append: "!" }}{{ values[record.name] }}{{ rows[1].value }}{{ record.missing.more }}',
  '{%- if record.name contains "b" -%} yes {%- endif -%} {{ "literal" }} {{ 12 }}',
  // Not compiled: other tags, forloop, arguments of for.
  '{% assign x = record.name %}{{ x }}{% for row in rows limit: 1 %}{{ forloop.index }}{{ row.value }}{% endfor %}',
  '{% for row in rows %}{{ row.value }}{% unless forloop.last %}, {% endunless %}{% endfor %}',
  '{% comment %} unseen {% endcomment %}{% case record.name %}{% when "a" %}A{% else %}B{% endcase %}',
];

const value = fc.oneof(
  fc.string(),
  fc.constantFrom('a', 'ab', '', null, undefined, true, false),
  fc.double({ noNaN: true }),
  fc.array(fc.string(), { maxLength: 3 }),
);
const scope = fc.record({
  record: fc.record({ name: value, age: fc.integer(), verified: value }, { requiredKeys: [] }),
  values: fc.dictionary(fc.constantFrom('price.input', 'a', 'ab'), value),
  rows: fc.array(fc.record({ attribute: value, value }), { maxLength: 4 }),
});

test.each(TEMPLATES)('%j', (template) => {
  const parsed = liquid.parse(template);
  const print = compilePage(liquid, parsed);
  fc.assert(
    fc.property(scope, (data) => {
      expect(print(data)).toBe(liquid.renderSync(parsed, data));
    }),
    { numRuns: 200 },
  );
});

test('what a record could inherit is not printed', () => {
  const print = compilePage(liquid, liquid.parse('{{ record.constructor }}{{ toString }}{{ values["__proto__"] }}'));
  expect(print({ record: {}, values: {} })).toBe('');
});
