// The datasets in the Data Catalog Vocabulary (DCAT 3), for portals that harvest it: JSON-LD, and the same as Turtle.
import { datasetUrl, sourceCitation } from '../../packs/define/links.ts';
import { bulkFiles, hasFeatures } from '../render/data-files.ts';
import type { Document, View } from './document.ts';
import { IDENTITY } from './identity.ts';

const PREFIXES = {
  dcat: 'http://www.w3.org/ns/dcat#',
  dct: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  prov: 'http://www.w3.org/ns/prov#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
};

/** A resource with its properties by prefixed name; without `@id` it is a blank node. */
interface Node {
  '@id'?: string;
  '@type'?: string;
  [property: string]: Value | undefined;
}
interface Literal {
  '@value': string;
  '@type'?: string;
  '@language'?: string;
}
type Value = string | Node | Literal | readonly Value[];

const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** A reference. Characters that no IRI may have are percent-encoded. */
const iri = (id: string) => ({ '@id': id.replace(/[\0-\x20<>"{}|^`\\]/g, encodeURIComponent) });
const english = (text: string): Value => ({ '@value': text, '@language': 'en' });
const time = (text: string): Value => ({ '@value': text, '@type': 'xsd:dateTime' });
const mediaType = (type: string) => iri(`https://www.iana.org/assignments/media-types/${type.split(';')[0]}`);

/** The catalogue, its datasets, their files, and the interfaces that serve them. */
function graph({ base_url, releases }: View): Node[] {
  const catalog = `${base_url}/#catalog`;
  const publisher = { '@id': `${base_url}/#publisher`, '@type': 'foaf:Agent', 'foaf:name': IDENTITY.title };
  const mapped = releases.filter(({ pack }) => hasFeatures(pack));
  const page = (id: string) => iri(datasetUrl(base_url, id));
  const services: Node[] = [
    {
      ...{ '@id': `${base_url}/v1`, '@type': 'dcat:DataService', 'dct:title': english('REST API') },
      ...{ 'dcat:endpointURL': iri(`${base_url}/v1`), 'dcat:endpointDescription': iri(`${base_url}/openapi.json`) },
      'dcat:servesDataset': releases.map(({ pack }) => page(pack.id)),
    },
    {
      ...{ '@id': `${base_url}/ogc`, '@type': 'dcat:DataService', 'dct:title': english('OGC API Features') },
      ...{ 'dcat:endpointURL': iri(`${base_url}/ogc`), 'dcat:endpointDescription': iri(`${base_url}/ogc/api`) },
      'dct:conformsTo': iri('http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core'),
      'dcat:servesDataset': mapped.map(({ pack }) => page(pack.id)),
    },
  ];
  const datasets = releases.map(({ pack, manifest }): Node => {
    const { id, title, description, keywords, license, notice, sources } = pack;
    const rights =
      notice === undefined ? {} : { 'dct:rights': { '@type': 'dct:RightsStatement', 'rdfs:label': notice } };
    const terms = { 'dct:license': iri(license.url), ...rights };
    return {
      ...{ ...page(id), '@type': 'dcat:Dataset', 'dct:identifier': id, 'dct:title': english(title) },
      ...{ 'dct:description': english(description), 'dcat:keyword': keywords.map(english) },
      ...{ 'dct:modified': time(manifest.created_at), 'dcat:version': manifest.release },
      ...{ 'dct:publisher': iri(publisher['@id']), 'dcat:landingPage': page(id) },
      ...{ 'dct:bibliographicCitation': sourceCitation(pack), ...terms },
      'dct:conformsTo': iri(`${base_url}/v1/${id}/schema`),
      'prov:wasDerivedFrom': sources.map((source) => ({
        ...{ ...iri(source.url), '@type': 'prov:Entity', 'dct:title': source.title },
        'dct:license': { '@type': 'dct:LicenseDocument', 'rdfs:label': source.license },
      })),
      'dcat:distribution': bulkFiles(pack).map(([name, file]) => ({
        ...{ '@id': `${base_url}/files/${id}/${name}`, '@type': 'dcat:Distribution' },
        ...{ 'dct:title': name, 'dct:description': english(file.description) },
        ...{ 'dcat:accessURL': iri(`${base_url}/files/${id}/`), 'dcat:mediaType': mediaType(file.media_type) },
        ...{ 'dcat:downloadURL': iri(`${base_url}/files/${id}/${name}`), ...terms },
      })),
    };
  });
  return [
    {
      ...{ '@id': catalog, '@type': 'dcat:Catalog', 'dct:title': english(IDENTITY.title) },
      ...{ 'dct:description': english(IDENTITY.description), 'foaf:homepage': iri(`${base_url}/`) },
      'dct:publisher': publisher,
      'dcat:dataset': datasets.map((dataset) => iri(dataset['@id']!)),
      'dcat:service': services.map((service) => iri(service['@id']!)),
    },
    ...datasets,
    ...services,
  ];
}

/** Resources as Turtle: those with an address as subjects, others in brackets. */
function turtle(nodes: readonly Node[]): string {
  const subjects = [...nodes];
  const properties = (node: Node): string =>
    Object.entries(node)
      .filter(([name, value]) => name !== '@id' && !(Array.isArray(value) && value.length === 0))
      .map(([name, value]) => (name === '@type' ? `a ${value}` : `${name} ${term(value!)}`))
      .join(' ;\n  ');
  const term = (value: Value): string => {
    if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
    if (isList(value)) return value.map(term).join(', ');
    if ('@value' in value) {
      const { '@value': text, '@type': type, '@language': language } = value as Literal;
      return `${term(text)}${language ? `@${language}` : ''}${type ? `^^${type}` : ''}`;
    }
    if (value['@id'] === undefined) return `[ ${properties(value)} ]`;
    if (Object.keys(value).length > 1) subjects.push(value);
    return `<${value['@id']}>`;
  };
  const statements: string[] = [];
  // The list grows while it is read.
  for (const subject of subjects) statements.push(`<${subject['@id']}> ${properties(subject)} .\n`);
  const prefixes = Object.entries(PREFIXES).map(([name, base]) => `@prefix ${name}: <${base}> .\n`);
  return `${prefixes.join('')}\n${statements.join('\n')}`;
}

export const dcat: readonly Document[] = [
  {
    path: '/catalog.jsonld',
    title: 'Catalogue in DCAT 3',
    rel: 'describedby',
    content_type: 'application/ld+json',
    text: (view) => JSON.stringify({ '@context': PREFIXES, '@graph': graph(view) }),
  },
  {
    path: '/catalog.ttl',
    title: 'Catalogue in DCAT 3, as Turtle',
    rel: 'describedby',
    content_type: 'text/turtle; charset=utf-8',
    text: (view) => turtle(graph(view)),
  },
];
