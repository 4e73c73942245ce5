// Which address a request counts for.
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/support/verifies.ts';
import { clientAddress, countedAddress, networkBlock } from './address.ts';

verifies('setting.trust-proxy');

describe('clientAddress', () => {
  test.each([
    [0, '6.6.6.6', '10.0.0.1'],
    [1, undefined, '10.0.0.1'],
    [1, '6.6.6.6', '6.6.6.6'],
    [1, '6.6.6.6, 9.9.9.9', '9.9.9.9'],
    [2, '6.6.6.6, 9.9.9.9', '6.6.6.6'],
    [2, 'forged, 6.6.6.6, 9.9.9.9', '6.6.6.6'],
    [3, '6.6.6.6', '6.6.6.6'],
    [1, '6.6.6.6, not an address', '10.0.0.1'],
    [1, '', '10.0.0.1'],
    [1, '[2001:db8::1]:443', '2001:db8::1'],
    [1, '9.9.9.9:5000', '9.9.9.9'],
  ])('%i hops, %j: %s', (hops, forwarded, expected) => {
    expect(clientAddress('10.0.0.1', forwarded, hops)).toBe(expected);
  });
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
])('%s counts as %s', (address, counted) => {
  expect(countedAddress(address)).toBe(counted);
});

test.each([
  ['2001:db8:1:2345:6::1', '2001:db8:1:2300::/56', '2001:db8:1::/48'],
  ['2001:db8:1:23ff::', '2001:db8:1:2300::/56', '2001:db8:1::/48'],
  ['2001:db8:1:2400::1', '2001:db8:1:2400::/56', '2001:db8:1::/48'],
  ['2001:db8:1:45::1', '2001:db8:1:0::/56', '2001:db8:1::/48'],
  ['192.0.2.7', null, null],
  ['::ffff:192.0.2.7', null, null],
  ['unknown', null, null],
])('%s lies in %s and %s', (address, in56, in48) => {
  const counted = countedAddress(address);
  expect([networkBlock(counted, 56), networkBlock(counted, 48)]).toEqual([in56, in48]);
});
