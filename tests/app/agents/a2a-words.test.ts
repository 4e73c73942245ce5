// Plain words to the A2A agent: general questions return the list of datasets, others the dataset that fits.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { matchDataset } from '../../../api/channels/a2a/advice.ts';
import { loadPack } from '../../../packs/define/load.ts';
import type { Pack } from '../../../packs/define/model.ts';

const folder = join(import.meta.dirname, '../../../packs');
const packs: Pack[] = await Promise.all(['airports', 'llm-models', 'places'].map((id) => loadPack(join(folder, id))));

it.each([
  'What datasets do you have?',
  'Which datasets are there?',
  'list datasets',
  'List all data sets, please',
  'datasets',
  'What data do you offer?',
  'What can you do?',
  'Which information can I get from you?',
  'Show me everything you have',
  'How do I use this?',
  'Tell me about your data',
  'Hello',
  'Hi there, what is available here?',
  'help',
  'was gibt es',
  'Was gibt es hier?',
  'Welche Datensätze hast du?',
  'Zeig mir die Liste der Daten',
  'Quelles données avez-vous ?',
  '¿Qué datos tienes?',
  'Quali dati ci sono?',
  'xyzzy',
])('"%s" fits no dataset, so that the list is the answer', (sentence) => {
  expect(matchDataset(sentence, packs)).toBeNull();
});

it.each([
  ['Which airports in Iceland have a runway of 2 km?', 'airports'],
  ['IATA code of the airport of Zurich', 'airports'],
  ['airport of Zurich', 'airports'],
  ['a city in France', 'places'],
  ['heliports with scheduled service', 'airports'],
  ['What does Claude cost per million tokens?', 'llm-models'],
  ['cheapest language model with a large context window', 'llm-models'],
  ['list of embedding models and their providers', 'llm-models'],
  ['How many people live in cities of Peru?', 'places'],
  ['population of towns and villages in Bavaria', 'places'],
  ['Which datasets have airports?', 'airports'],
])('"%s" fits %s', (sentence, dataset) => {
  expect(matchDataset(sentence, packs)?.id).toBe(dataset);
});
