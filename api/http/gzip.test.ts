// Joined pieces are one gzip member, and a text of a kept answer is compressed once.
import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compressReply } from './coding.ts';
import { deflatePiece, gzipOf, storedPiece } from './gzip.ts';
import type { Reply } from './respond.ts';

const joined = (reply: Reply) => Buffer.concat(reply.body as Buffer[]);
const reply = (body: Reply['body']): Reply => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body,
});

test('any texts, stored or compressed, are one member with their checksum', async () => {
  const texts = fc.array(fc.record({ text: fc.uint8Array({ maxLength: 3000 }), stored: fc.boolean() }));
  await fc.assert(
    fc.asyncProperty(texts, async (all) => {
      const pieces = await Promise.all(
        all.map(({ text, stored }) => (stored ? storedPiece(text) : deflatePiece(text, 6))),
      );
      const text = Buffer.concat(all.map((each) => each.text));
      expect(gunzipSync(Buffer.concat(gzipOf(pieces))).equals(text)).toBe(true);
    }),
  );
});

test('a stored text has at most 65,535 bytes', () => {
  const longest = randomBytes(65_535);
  expect(gunzipSync(Buffer.concat(gzipOf([storedPiece(longest)]))).equals(longest)).toBe(true);
  expect(() => storedPiece(randomBytes(65_536))).toThrow(RangeError);
});

test('bodies of short and long pieces, texts and bytes', async () => {
  const record = Buffer.from(`{"name":"${'Zürich '.repeat(600)}"}`);
  const bodies: Reply['body'][] = [
    [Buffer.from('['), ...Array.from({ length: 20 }, () => record), Buffer.from(']')],
    [Buffer.from('{"text":"'), randomBytes(300_000), Buffer.from('","value":'), record, Buffer.from('}')],
    [randomBytes(8_192), randomBytes(8_192)],
    Buffer.concat([record, record]),
    record.toString().repeat(3),
  ];
  for (const body of bodies) {
    const expected = Buffer.concat(Array.isArray(body) ? body : [Buffer.from(body as Buffer)]);
    // Twice, because the second time some pieces are known.
    for (const _ of [1, 2]) {
      const sent = await compressReply(reply(body), 'gzip, deflate');
      expect(sent.headers).toMatchObject({ 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' });
      expect(gunzipSync(joined(sent)).equals(expected)).toBe(true);
    }
  }
});

test('records are compressed together, as well as one text', async () => {
  const record = (i: number) =>
    Buffer.from(JSON.stringify({ id: i, values: Array.from({ length: 900 }, (_, n) => `${n}`) }));
  for (const length of [1000, 9000]) {
    const body = Array.from({ length: 20 }, (_, i) => record(i).subarray(0, length));
    const sent = joined(await compressReply(reply(body), 'gzip'));
    expect(sent.length).toBeLessThan(1.1 * gzipSync(Buffer.concat(body), { level: 2 }).length);
  }
});

test('the text of a kept answer is compressed once, also for two clients at the same time', async () => {
  const kept = Buffer.from('{"name":"Zürich"}'.repeat(2000));
  const [first, second] = [compressReply(reply([kept]), 'gzip'), compressReply(reply([kept]), 'gzip')];
  const [a, b] = await Promise.all([first, second]);
  const third = compressReply(reply(kept), 'gzip');
  expect(third).not.toBeInstanceOf(Promise);
  const [, blocks] = (third as Reply).body as Buffer[];
  expect((a.body as Buffer[])[1]).toBe(blocks);
  expect((b.body as Buffer[])[1]).toBe(blocks);
});
