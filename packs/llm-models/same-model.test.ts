// Ids of one model at several providers, and the source of its dates.
import { describe, expect, test } from 'vitest';
import type { DevModel } from './models-dev.ts';
import { leafOf, sameModel } from './same-model.ts';

describe('leafOf', () => {
  test.each([
    ['anthropic/claude-3-haiku', 'claude-3-haiku'],
    ['us.anthropic.claude-3-haiku-20240307-v1:0', 'claude-3-haiku-20240307'],
    ['Qwen/Qwen3_32B:free', 'qwen3-32b'],
    ['openai/gpt-4.1', 'gpt-4-1'],
  ])('%s', (id, leaf) => {
    expect(leafOf(id)).toBe(leaf);
  });

  test('a moving alias is no model', () => {
    expect(leafOf('mistral-small-latest')).toBeNull();
  });
});

const model = (provider: string, id: string, release_date: string, knowledge?: string): DevModel => ({
  provider,
  id,
  name: id,
  reasoning: false,
  tool_call: false,
  open_weights: false,
  ...(knowledge === undefined ? {} : { knowledge }),
  release_date,
  last_updated: release_date,
  modalities: { input: ['text'], output: ['text'] },
  limit: { context: 1, output: 1 },
});

describe('sameModel', () => {
  test('the maker’s own entry has precedence', () => {
    const look = sameModel([
      model('groq', 'openai/gpt-oss-120b', '2025-08-06'),
      model('baseten', 'openai/gpt-oss-120b', '2025-08-06'),
      model('openai', 'gpt-oss-120b', '2025-08-05', '2024-06'),
    ]);
    expect(look('meta/gpt-oss-120b')).toMatchObject({ release_date: '2025-08-05', knowledge: '2024-06' });
  });

  test('otherwise the majority, and nothing without one', () => {
    const two = [model('groq', 'a/sample-1', '2025-01-01'), model('together', 'b/sample-1', '2025-02-02')];
    expect(sameModel(two)('sample-1')).toBeNull();
    const three = sameModel([...two, model('azure', 'sample-1', '2025-02-02')]);
    expect(three('x/Sample.1')).toMatchObject({ release_date: '2025-02-02', knowledge: undefined });
    expect(three('sample-2')).toBeNull();
  });
});
