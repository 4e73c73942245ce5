// Answers that are stored for an Idempotency-Key: texts as text, also those that are in memory as bytes.
import { expect, test } from 'vitest';
import { FORMATS } from '../../../data/input/formats.ts';
import { REST_ANSWER_CODEC } from './stored-answer.ts';

test.each(['json', 'markdown', 'text'] as const)(
  '%s in bytes is stored as text, and returned unchanged',
  async (format) => {
    const content_type = FORMATS[format].media_type;
    const text = '{"name":"Zürich"}';
    for (const body of [text, Buffer.from(text), [Buffer.from(text.slice(0, 9)), Buffer.from(text.slice(9))]]) {
      const stored = await REST_ANSWER_CODEC.encode({ result: { body: null }, rendered: { content_type, body } });
      expect(JSON.parse(stored)).toEqual({ content_type, body: text, result: {} });
      expect(REST_ANSWER_CODEC.decode(stored).rendered).toEqual({ content_type, body: text });
    }
  },
);

test('other bytes are stored in base64', async () => {
  const rendered = { content_type: FORMATS.arrow.media_type, body: Uint8Array.of(0, 255, 254) };
  const stored = await REST_ANSWER_CODEC.encode({ result: { body: null }, rendered });
  expect(JSON.parse(stored)).toMatchObject({ body: 'AP/+', bytes: true });
  expect(REST_ANSWER_CODEC.decode(stored).rendered).toEqual(rendered);
});
