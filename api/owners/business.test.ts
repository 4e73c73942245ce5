// Whose address speaks for whose record, on the names where it is easily got wrong.
import providers from 'email-providers/all.json' with { type: 'json' };
import { expect, test } from 'vitest';
import { coversHost, isOpenToAll, mailDomain, ownerDomains, parseHost } from './business.ts';

test.each([
  ['port.example', 'port.example', true],
  ['port.example', 'www.port.example', true],
  ['port.example', 'a.b.port.example', true],
  ['www.port.example', 'port.example', false],
  ['port.example', 'airport.example', false],
  ['ort.example', 'port.example', false],
  ['port.example', 'port.example.elsewhere.test', false],
  ['example', 'port.example', false],
  ['co.uk', 'port.co.uk', false],
  ['port.co.uk', 'www.port.co.uk', true],
  // Names below these belong to different people.
  ['github.io', 'port.github.io', false],
  ['port.github.io', 'port.github.io', true],
  ['uk', 'port.co.uk', false],
])('%s for %s: %s', (domain, host, expected) => expect(coversHost(domain, host)).toBe(expected));

test.each([
  ['https://www.port.example/about', 'www.port.example'],
  ['http://PORT.example:8080', 'port.example'],
  ['port.example', 'port.example'],
  [' port.example. ', 'port.example'],
  ['https://münchen.example/', 'xn--mnchen-3ya.example'],
  ['https://user@port.example/', 'port.example'],
  ['https://192.0.2.1/', null],
  ['https://[2001:db8::1]/', null],
  ['localhost', null],
  ['', null],
  [7, null],
  [null, null],
])('%s names the host %s', (value, host) => expect(parseHost(value)).toBe(host));

test.each([
  ['x@Port.EXAMPLE', 'port.example'],
  ['x@port.example.', 'port.example'],
  ['x@münchen.example', 'xn--mnchen-3ya.example'],
  ['"a@b"@port.example', 'port.example'],
  ['x@[192.0.2.1]', null],
  ['x@', null],
])('%s is of %s', (email, domain) => expect(mailDomain(email)).toBe(domain));

test.each(['gmail.com', 'mailinator.com', 'sub.mailinator.com', 'outlook.com', 'gmx.de', 'yahoo.co.uk'])(
  'anybody can have an address at %s',
  (domain) => expect(isOpenToAll(domain)).toBe(true),
);

test('not at a business', () => expect(isOpenToAll('port.example')).toBe(false));

test('every mail provider of the list is open to all', () => {
  expect(providers.length).toBeGreaterThan(8_000);
  expect(providers.filter((domain) => !isOpenToAll(domain))).toEqual([]);
});

test.each([
  ['www.port.example', ['port.example']],
  ['harbour.city.example', ['harbour.city.example', 'city.example']],
  ['person.github.io', ['person.github.io']],
])('the owner of %s has an address at %j', (host, domains) => expect(ownerDomains(host)).toEqual(domains));
