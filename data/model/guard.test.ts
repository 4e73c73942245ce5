// Which addresses the guard of outside addresses allows.
import { expect, it } from 'vitest';
import { checkUrl, publicOnly, Refused, WEB_PORTS } from './guard.ts';

it.each(['93.184.216.34', '1.1.1.1', '2606:4700:4700::1111', '2a00:1450::1', '2001:4860:4860::8888', '::ffff:1.1.1.1'])(
  'allows %s',
  (address) => expect(publicOnly(address)).toBe(true),
);

it.each([
  ['loopback', '127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1', '::7f00:1', '::127.0.0.1'],
  ['private', '10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', 'fc00::1', 'fd12::1', 'fec0::1', '::10.0.0.1'],
  ['link-local', '169.254.169.254', 'fe80::1', '::a9fe:a9fe', '::ffff:a9fe:a9fe'],
  ['IPv4 through IPv6', '64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::', '2001::1', '::ffff:0:7f00:1'],
  [
    'multicast and reserved',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '0.0.0.0',
    '::',
    'ff02::1',
    '100::1',
    '5f00::1',
  ],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  ['no address', '', 'localhost', 'fe80::1%eth0', '[::1]'],
])('refuses %s: %s and others', (_, ...addresses) => {
  expect(addresses.filter((address) => publicOnly(address))).toEqual([]);
});

it.each([
  'https://[::7f00:1]/',
  'https://[64:ff9b::a9fe:a9fe]/latest',
  'https://[2002:7f00:1::]/',
  'https://0x7f.1/',
  'https://2130706433/',
  'https://127.1/',
  'ftp://example.org/',
  'https://user@example.org/',
  'https://example.org:22/',
])('checkUrl refuses %s', (url) => {
  expect(() => checkUrl(new URL(url), publicOnly, WEB_PORTS)).toThrow(Refused);
});
