// Declarations of sources: what an upgrade must not change.
import { expect, test } from 'vitest';
import { DeclaredSourceShape } from './sources.ts';

// The hash of this text identifies readings. With another text, all stored versions would be read again.
test.each([
  [
    { kind: 'csv', file: 'a.csv' },
    '{"kind":"csv","file":"a.csv","attributes":{},"missing":[],"columns":"any","encoding":"utf-8"}',
  ],
  [
    { kind: 'jsonl', file: 'a.jsonl' },
    '{"kind":"jsonl","file":"a.jsonl","attributes":{},"missing":[],"columns":"any"}',
  ],
  [{ kind: 'json', file: 'a.json' }, '{"kind":"json","file":"a.json","attributes":{},"missing":[],"columns":"any"}'],
  [
    { kind: 'parquet', file: 'a.parquet' },
    '{"kind":"parquet","file":"a.parquet","attributes":{},"missing":[],"columns":"any"}',
  ],
  [
    { kind: 'sqlite', file: 'a.db', table: 't' },
    '{"kind":"sqlite","file":"a.db","attributes":{},"missing":[],"columns":"any","table":"t"}',
  ],
])('the declaration %j is the same as in earlier versions', (declared, text) => {
  expect(JSON.stringify(DeclaredSourceShape.parse({ ...declared, attributes: {} }))).toBe(text);
});
