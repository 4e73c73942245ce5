// E-mail addresses: which ones count as the same, and which are disposable.
import { expect, test } from 'vitest';
import { isDisposable, normalEmail } from './emails.ts';

test.each([
  ['Ada@Example.ORG', 'ada@example.org'],
  ['ada+news@example.org', 'ada@example.org'],
  ['a.d.a@example.org', 'a.d.a@example.org'],
  ['a.d.a+x@gmail.com', 'ada@gmail.com'],
  ['ada@googlemail.com', 'ada@gmail.com'],
  ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@XN--BCHER-KVA.example', 'ada@xn--bcher-kva.example'],
  ['ada@example.org.', 'ada@example.org'],
  ['+x@example.org', null],
  ['@example.org', null],
  ['ada@', null],
  ['ada', null],
])('%s counts as %s', (written, normal) => expect(normalEmail(written)).toBe(normal));

test('throw-away domains are known, also those below one', () => {
  expect(isDisposable('a@mailinator.com')).toBe(true);
  expect(isDisposable('a@deep.below.mailinator.com')).toBe(true);
  expect(isDisposable('a@example.org')).toBe(false);
  expect(isDisposable('mailinator.com@example.org')).toBe(false);
});
