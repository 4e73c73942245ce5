// A mail as a file: complete, readable by its owner only, with headers that cannot be forged.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { outbox } from './outbox.ts';

const folder = scratchOfAll();
const now = new Date('2026-11-20T12:00:00Z');

test('is an .eml file', async () => {
  await outbox(folder, 'register@register.example')({ to: 'a@example.org', subject: 'A key', text: 'One\nTwo' }, now);
  const [name = ''] = readdirSync(join(folder, 'outbox'));
  expect(name).toMatch(/^2026-11-20T12-00-00-000Z-[0-9a-f-]{36}\.eml$/);
  const path = join(folder, 'outbox', name);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const [head = '', body] = readFileSync(path, 'utf8').split('\r\n\r\n');
  expect(head.split('\r\n').slice(0, 4)).toEqual([
    'From: register@register.example',
    'To: a@example.org',
    'Subject: A key',
    'Date: Fri, 20 Nov 2026 12:00:00 +0000',
  ]);
  expect(body).toBe('One\r\nTwo\r\n');
});

test('a line break in a header is rejected', async () => {
  const send = outbox(folder, 'register@register.example');
  await expect(send({ to: 'a@example.org\r\nBcc: b@example.org', subject: 'x', text: '' }, now)).rejects.toThrow(
    /one line/,
  );
});
