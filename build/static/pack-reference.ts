// The tables of the guide "Reference of pack.ts", from the shape of pack.ts, so that each member is described once.
import { inspect } from 'node:util';
import { z } from 'zod';
import { PackShape, unwrapShape } from '../../packs/define/shape.ts';

type Shape = z.core.$ZodType;

/** A row of a table. */
interface Row {
  path: string;
  value: string;
  fallback: string;
  meaning: string;
}

/** A table of the guide. */
interface Section {
  title: string;
  text: string;
  rows: Row[];
}

/** A value as JavaScript, in code. */
const code = (value: unknown) => `\`${inspect(value, { breakLength: Number.POSITIVE_INFINITY })}\``;

/** The default of a member: its value, `required`, or `unset`. */
function fallbackOf(shape: Shape): string {
  for (let at = shape; ; ) {
    if (at instanceof z.ZodDefault) return at.def.defaultValue === null ? 'unset' : code(at.def.defaultValue);
    if (at instanceof z.ZodOptional || at instanceof z.ZodExactOptional) return 'unset';
    if (at instanceof z.ZodPipe) at = at.in;
    else if (at instanceof z.ZodNullable) at = at.unwrap();
    else return 'required';
  }
}

/** What the member may be, as messages about mistakes have it after "expected". */
function expectedOf(shape: Shape): string {
  const { success, error } = z.safeParse(shape, Symbol('no value of any member'));
  if (success) return 'any value';
  const at = unwrapShape(shape);
  if (at instanceof z.ZodObject) return 'an object with the members below';
  if (at instanceof z.ZodEnum) return at.options.map(code).join(', ');
  if (at instanceof z.ZodLiteral) return code(at.value);
  return error.issues[0]!.message;
}

/** Text for a cell of a Markdown table. */
const cell = (text: string) => text.replaceAll('|', '\\|');

const descriptionOf = (shape: Shape): string => z.globalRegistry.get(shape)?.description ?? '';

const rowOf = (path: string, shape: Shape): Row => ({
  path,
  value: expectedOf(shape),
  fallback: fallbackOf(shape),
  meaning: descriptionOf(shape),
});

/** Name of the members of a record in a path: `sources.<id>`. */
const KEYS: Readonly<Record<string, string>> = { sources: '<id>', attributes: '<name>' };

/** The members below a shape, in order. */
function membersOf(shape: Shape, path: string): Row[] {
  const at = unwrapShape(shape);
  if (at instanceof z.ZodObject)
    return Object.entries(at.shape as Record<string, Shape>).flatMap(([name, member]) => {
      const below = path === '' ? name : `${path}.${name}`;
      return [rowOf(below, member), ...membersOf(member, below)];
    });
  if (at instanceof z.ZodRecord) return membersOf(at.valueType, `${path}.${KEYS[path.split('.').at(-1)!] ?? '<name>'}`);
  if (at instanceof z.ZodArray) return membersOf(at.element, `${path}[]`);
  if (at instanceof z.ZodUnion) return at.options.flatMap((option) => membersOf(option as Shape, path));
  return [];
}

/** The kinds of declared source, with their own members, and the members that all of them have. */
function declaredSections(from: Shape): Section[] {
  const union = unwrapShape(from) as z.ZodDiscriminatedUnion;
  const kinds = union.options.map((option) => (option as z.ZodObject).shape as Record<string, Shape>);
  const common = Object.keys(kinds[0]!).filter(
    (name) => name !== 'kind' && kinds.every((shape) => shape[name] === kinds[0]![name]),
  );
  const listed = (shape: Record<string, Shape>, names: string[]) =>
    names.flatMap((name) => [rowOf(name, shape[name]!), ...membersOf(shape[name]!, name)]);
  const own = kinds.map((shape, i) => {
    const kind = (shape['kind'] as z.ZodLiteral).value as string;
    const names = Object.keys(shape).filter((name) => name !== 'kind' && !common.includes(name));
    const text = descriptionOf(union.options[i]!);
    return { title: `\`${kind}()\``, text, rows: distinct(listed(shape, names)) };
  });
  const text = 'The members of `sources.<id>.from`, whatever its kind.';
  return [{ title: 'Declared sources', text, rows: distinct(listed(kinds[0]!, common)) }, ...own];
}

/** Rows of one path joined: members that several options of a union have. */
function distinct(rows: readonly Row[]): Row[] {
  const byPath = new Map<string, Row>();
  for (const row of rows) {
    const earlier = byPath.get(row.path);
    if (earlier === undefined) byPath.set(row.path, { ...row });
    else {
      for (const member of ['value', 'meaning'] as const)
        if (!earlier[member].split(' / ').includes(row[member])) earlier[member] += ` / ${row[member]}`;
    }
  }
  return [...byPath.values()];
}

const TITLES: readonly (readonly [string, string, RegExp])[] = [
  ['The dataset', 'Members of `definePack({ … })`; those of `sources` and `attributes` are below.', /^/],
  ['Sources', 'One source of values.', /^sources\./],
  ['Attributes', 'One column of the dataset.', /^attributes\./],
];

/** The tables of docs/packs-reference.md, one for each part of a pack. */
export function packReference(): string {
  const rows = membersOf(PackShape, '').filter(({ path }) => !/^sources\.<id>\.from\./.test(path));
  const section = (path: string) => TITLES.findLastIndex(([, , pattern]) => pattern.test(path));
  const sections: Section[] = TITLES.map(([title, text], i) => ({
    title,
    text,
    rows: distinct(rows.filter(({ path }) => section(path) === i)),
  }));
  const source = PackShape.shape.sources.in.valueType;
  const all = [...sections.slice(0, 2), ...declaredSections(source.shape.from), ...sections.slice(2)];
  return all.map(printed).join('\n');
}

function printed({ title, text, rows }: Section): string {
  const lines = rows.map(
    ({ path, value, fallback, meaning }) => `| \`${path}\` | ${cell(value)} | ${cell(fallback)} | ${cell(meaning)} |`,
  );
  const table = ['| member | value | default | meaning |', '|---|---|---|---|', ...lines].join('\n');
  return `## ${title}\n\n${text === '' ? '' : `${text}\n\n`}${rows.length === 0 ? '' : `${table}\n`}`;
}
