// Loading packs: from the repository, from anywhere, and what is said of wrong ones.
import { expect, test } from 'vitest';
import { loadPack } from './index.ts';

test('x', async () => {
  const p = await loadPack('tests/packs/tools');
  expect(p.id).toBe('tools');
});
