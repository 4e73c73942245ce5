// The catalogue in DCAT: N3.js parses the Turtle, which has the statements of the JSON-LD.
import { expect, test } from 'vitest';
import { dcat } from '../../../api/discovery/dcat.ts';
import type { View } from '../../../api/discovery/index.ts';
import { appOfAll, BASE, NOW } from '../../support/app.ts';

interface Term {
  termType: string;
  value: string;
  language?: string;
  datatype?: { value: string };
}
interface N3 {
  Parser: new () => { parse(text: string): { subject: Term; predicate: Term; object: Term }[] };
}

const app = await appOfAll();
// Not by its literal name: a checkout that was installed before it was added still compiles.
const name: string = 'n3';
const n3 = (await import(name).catch(() => null)) as N3 | null;

/** A catalogue with texts and addresses that need escapes. */
function view(): View {
  const releases = ['harbours', 'tools'].map((id) => app.register.current(id)!);
  const pack = {
    ...releases[0]!.pack,
    title: 'Tab\t, "quotes" \\ and\nlines',
    notice: 'Über “alles” \u2028',
    keywords: [],
  };
  const sources = pack.sources.map((source) => ({ ...source, url: `${source.url}a b<c>"|\\{}` }));
  return {
    ...{ base_url: BASE, now: NOW, operations: [], eur_usd: 1 },
    releases: [{ ...releases[0]!, pack: { ...pack, sources } }, releases[1]!],
  };
}

type Node = string | { [name: string]: Node } | Node[];

test('the Turtle parses, and has the statements of the JSON-LD', async (context) => {
  if (n3 === null) return context.skip('n3 is not installed; run npm ci');
  const [jsonld, turtle] = await Promise.all(dcat.map((document) => document.text(view(), {})));
  const quads = new n3.Parser().parse(String(turtle));
  const { '@context': prefixes, '@graph': graph } = JSON.parse(String(jsonld)) as {
    '@context': Record<string, string>;
    '@graph': Node[];
  };
  const full = (short: string) => short.replace(/^(\w+):(?!\/)/, (whole, prefix: string) => prefixes[prefix] ?? whole);
  const statements: string[] = [];
  /** The node as an object; its own statements are added. Blank nodes have no name here. */
  const object = (node: Node): string => {
    if (typeof node === 'string') return `"${node}"`;
    const {
      '@id': id,
      '@value': value,
      '@language': language,
      '@type': type,
      ...properties
    } = node as Record<string, Node>;
    if (value !== undefined) return `"${value}"${language ? `@${language}` : `^${full(type as string)}`}`;
    const subject = id === undefined ? '_' : `<${id}>`;
    if (type !== undefined) statements.push(`${subject} ${full('rdf:type')} <${full(type as string)}>`);
    for (const [property, values] of Object.entries(properties))
      for (const one of [values].flat()) statements.push(`${subject} ${full(property)} ${object(one)}`);
    return subject;
  };
  graph.forEach(object);
  const string = 'http://www.w3.org/2001/XMLSchema#string';
  const printed = ({ termType, value, language, datatype }: Term) => {
    if (termType === 'BlankNode') return '_';
    if (termType === 'NamedNode') return `<${value}>`;
    return `"${value}"${language ? `@${language}` : datatype!.value === string ? '' : `^${datatype!.value}`}`;
  };
  const type = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
  const parsed = quads.map(({ subject, predicate, object: value }) => {
    const property = predicate.value === type ? 'rdf:type' : predicate.value;
    return `${printed(subject)} ${property} ${printed(value)}`;
  });
  expect(parsed.sort()).toEqual(statements.sort());
  expect(parsed.length).toBeGreaterThan(100);
  for (const { subject } of quads) if (subject.termType === 'NamedNode') expect(URL.canParse(subject.value)).toBe(true);
});
