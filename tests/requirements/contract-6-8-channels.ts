// Requirements of contract sections 6 to 8: Markdown, packs, one definition for each operation.
import { done, section } from './model.ts';

export const markdown = section('contract 6', {
  'markdown.media-type': done('Markdown is text/markdown; charset=utf-8'),
  'markdown.negotiated': done('Accept decides with quality values; Vary: Accept where the header decides'),
  'markdown.same-gate': done('Markdown has the access, price and headers of the JSON'),
  'markdown.quarter': done('20 records take at most a quarter of the tokens of JSON'),
  'markdown.escaped': done('values from outside cannot forge cells, links or headings'),
  'markdown.full-text': done('llms-full.txt is complete at its own URL; shards are additional'),
});

export const packs = section('contract 7', {
  'pack.folder': done('a pack is pack.ts, collect.ts, samples.json, record.md and guide.md'),
  'pack.import': done('packs import dataset-register/pack from folders anywhere'),
  'pack.id': done('the folder name is the dataset id, lower case, not a reserved word'),
  'pack.tool-names': done('in tool names - becomes _'),
  'pack.checked': done('a wrong pack stops with the file, the path in it and what was expected'),
  'pack.no-other-change': done('a folder and npm run nightly make a dataset appear in every channel'),
});

export const projections = section('contract 8', {
  'table.one-registry': done('REST, MCP, A2A, OpenAPI, catalogue, guides and x402 terms come from one table'),
  'table.no-repeats': done('no channel repeats a rule that the table holds'),
  'table.argument-names': done('MCP and A2A arguments bear the REST names plus dataset and entity_id'),
  'table.lists': done('lists are arrays there, comma strings are accepted'),
  'table.filters': done('entity_search takes filters as an object, <pack>_search takes them flat'),
  'table.a2a-part': done('an A2A data part is {skill, …the same arguments}'),
  'table.mcp-resource': done('the MCP resource of a record is its public page in Markdown, free'),
});
