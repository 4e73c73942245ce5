// Derived values of models: used only when no source states them.
import { expect, test } from 'vitest';
import { derivedFacts, factsOfName, type OtherListings } from './kinds.ts';

const nothing: OtherListings = { named: new Set(), byLeaf: new Map() };
const derive = (id: string, billed: string[] = [], other = nothing) =>
  derivedFacts('example-ai', id, new Set(billed), other);

test.each([
  ['text-embedding-3-small', 'embedding'],
  ['@cf/baai/bge-m3', 'embedding'],
  ['@cf/baai/bge-reranker-base', 'other'],
  ['voyage-3-lite', 'embedding'],
  ['meta-llama/Llama-Guard-4-12B', 'classifier'],
  ['gpt-4o-mini-tts', 'other'],
  ['whisper-large-v3', 'other'],
  ['mistral-ocr-latest', 'other'],
  ['gpt-realtime-2', 'other'],
  ['gpt-image-1', 'image'],
  ['gemini-2.5-flash-image', 'image'],
  ['gpt-4.1', undefined],
  ['olive-7b', undefined],
  ['sonar-pro', undefined],
])('the id %s: %s', (id, kind) => expect(factsOfName(id).kind?.value).toBe(kind));

test('prices after names: an image or audio price is no chat, a price of output tokens only is', () => {
  expect(derive('orion', ['input_mtok', 'output_mtok']).kind).toEqual({
    value: 'chat',
    confidence: 0.5,
    how: 'derived from prices: it bills output tokens, and only text',
  });
  expect(derive('orion', ['output_mtok', 'output_image_mtok']).kind?.value).toBe('image');
  expect(derive('orion', ['output_mtok', 'input_audio_mtok']).kind).toBeUndefined();
  expect(derive('orion', ['audio_hours']).kind?.value).toBe('other');
  expect(derive('orion', ['input_mtok']).kind).toBeUndefined();
  expect(derive('text-embedding', ['output_mtok']).kind?.value).toBe('embedding');
});

test('the same model at another provider, unless the source lists this record', () => {
  const how = 'derived from the same model at sampleworks in pi-ai';
  const facts = {
    kind: { value: 'chat', confidence: 0.6, how },
    input_modalities: { value: ['image', 'text'], confidence: 0.6, how },
  };
  const other = { named: new Set<string>(), byLeaf: new Map([['orion-2', facts]]) };
  expect(derive('maker/orion-2', [], other)).toEqual(facts);
  const named = { ...other, named: new Set(['example-ai/maker/orion-2']) };
  expect(derive('maker/orion-2', ['output_mtok'], named)).toEqual({});
});
