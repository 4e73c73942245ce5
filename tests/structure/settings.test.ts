// Settings as in contract section 1: defaults, and one clear line for a wrong one.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../config.ts';
import { verifies } from '../support/verifies.ts';

verifies('setting.one-line-error', 'setting.port-host', 'setting.base-url', 'setting.data-dir', 'setting.dist-dir');
verifies('setting.pack-dirs', 'setting.admin-keys');

test('nothing set: the defaults of the contract', () => {
  expect(readConfig({})).toMatchObject({
    PORT: 8787,
    HOST: '127.0.0.1',
    BASE_URL: 'http://localhost:8787',
    DATA_DIR: resolve('data/var'),
    DIST_DIR: resolve('dist'),
    PACK_DIRS: [resolve('packs')],
    ADMIN_KEYS: null,
    TRUST_PROXY: 0,
    DRAIN_SECONDS: 5,
  });
});

test('an empty variable counts as unset', () => {
  const empty = { PORT: '', BASE_URL: '', ADMIN_KEYS: '', SOURCE_DATE_EPOCH: '' };
  expect(readConfig(empty)).toEqual(readConfig({}));
});

test('BASE_URL follows the port, and loses its last slash', () => {
  expect(readConfig({ PORT: '9000' }).BASE_URL).toBe('http://localhost:9000');
  expect(readConfig({ PORT: '9000', BASE_URL: 'https://register.example/' }).BASE_URL).toBe('https://register.example');
});

test('lists are split at commas and trimmed', () => {
  const [one, two] = ['a'.repeat(32), 'b'.repeat(40)];
  const hosts = 'Prices.internal:8080, [::1]:9000,10.0.0.7:80';
  const config = readConfig({
    PACK_DIRS: './packs, /srv/packs',
    ADMIN_KEYS: `${one}, ${two}`,
    COLLECT_ALLOW_HOSTS: hosts,
  });
  expect(config.COLLECT_ALLOW_HOSTS).toEqual(['prices.internal:8080', '[::1]:9000', '10.0.0.7:80']);
  expect(config.PACK_DIRS).toEqual([resolve('packs'), '/srv/packs']);
  expect(config.ADMIN_KEYS).toEqual([one, two]);
});

test.each([
  ['PORT', 'http'],
  ['PORT', '70000'],
  ['BASE_URL', 'register.example'],
  ['BASE_URL', 'ftp://register.example'],
  ['ADMIN_KEYS', 'short'],
  ['TRUST_PROXY', '-1'],
  ['TRUST_PROXY', '1.5'],
  ['MCP_ORIGINS', 'app.example'],
  ['MCP_ORIGINS', 'https://app.example/path'],
  ['EUR_USD', '0'],
  ['SMTP_URL', 'mail.example'],
  ['SMTP_URL', 'http://mail.example'],
  ['MAIL_FROM', 'nobody'],
  ['ALERT_EMAIL', 'nobody'],
  ['MAIL_FROM', 'A <a@b.example>\r\nBcc: c@d.example'],
  ['CHECKOUT', 'stripe'],
  ['STRIPE_API_BASE', 'http://stripe.example'],
  ['STRIPE_API_BASE', 'http://127.stripe.example'],
  ['COLLECT_ALLOW_HOSTS', 'prices.internal'],
  ['COLLECT_ALLOW_HOSTS', 'http://prices.internal:8080'],
  ['COLLECT_ALLOW_HOSTS', 'prices.internal:8080/x'],
  ['COLLECT_ALLOW_HOSTS', 'a:1,,b:2'],
  ['SOURCE_DATE_EPOCH', 'yesterday'],
  ['RELEASES_URL', 'https://bucket.example'],
  ['RELEASES_URL', 'file://relative/folder'],
  ['S3_ENDPOINT', 'storage.internal:9000'],
  ['DRAIN_SECONDS', '-1'],
  ['DUCKDB_MEMORY', '512'],
  ['DUCKDB_MEMORY', '64MB'],
  ['SQL', 'no'],
  ['SQL_MEMORY', '64MB'],
])('%s=%s is one line that names it', (name, value) => {
  const wrong = () => readConfig({ [name]: value });
  expect(wrong).toThrow(ConfigError);
  expect(wrong).toThrow(new RegExp(`^${name}: [^\\n]+$`));
});

test('a mail server and a sender, with a name or without', () => {
  const set = { SMTP_URL: 'smtps://register:a%20password@mail.example:465', MAIL_FROM: 'Register <a@b.example>' };
  expect(readConfig(set)).toMatchObject(set);
  expect(readConfig({ MAIL_FROM: 'a@b.example' }).MAIL_FROM).toBe('a@b.example');
});

test('memory is a size, in bytes', () => {
  expect(readConfig({ DUCKDB_MEMORY: '512MB' }).DUCKDB_MEMORY).toBe(2 ** 29);
  expect(readConfig({ DUCKDB_MEMORY: '2 gb' }).DUCKDB_MEMORY).toBe(2 ** 31);
  expect(readConfig({}).DUCKDB_MEMORY).toBeUndefined();
});

test('shared releases need PostgreSQL, for pointers and the lease', () => {
  verifies('setting.releases-url');
  const set = { RELEASES_URL: 's3://register/prod', S3_ENDPOINT: 'http://127.0.0.1:9000' };
  expect(() => readConfig(set)).toThrow(/^RELEASES_URL: requires DATABASE_URL, [^\n]+$/);
  expect(readConfig({ ...set, DATABASE_URL: 'postgres://db/register' })).toMatchObject(set);
});

test('sandbox and Stripe exclude each other', () => {
  const stripe = { STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' };
  expect(() => readConfig({ ...stripe, CHECKOUT: 'sandbox' })).toThrow(/^CHECKOUT: [^\n]+$/);
  expect(readConfig({ CHECKOUT: 'sandbox' }).CHECKOUT).toBe('sandbox');
  expect(readConfig({}).CHECKOUT).toBeUndefined();
});

test('a seller has a name, an address and a tax ID', () => {
  const seller = { SELLER_NAME: 'Register GmbH', SELLER_ADDRESS: 'Ring 1, 10115 Berlin', SELLER_TAX_ID: 'DE123' };
  expect(readConfig(seller)).toMatchObject(seller);
  expect(() => readConfig({ SELLER_NAME: 'Register GmbH' })).toThrow(/^SELLER_ADDRESS: [^\n]+$/);
});

test('Stripe needs both secrets: without a webhook no payment may be taken', () => {
  expect(() => readConfig({ STRIPE_SECRET_KEY: 'sk_test_1' })).toThrow(/^STRIPE_WEBHOOK_SECRET: [^\n]+$/);
  expect(() => readConfig({ STRIPE_WEBHOOK_SECRET: 'whsec_1' })).toThrow(/^STRIPE_SECRET_KEY: [^\n]+$/);
  const whole = {
    STRIPE_SECRET_KEY: 'sk_test_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
    STRIPE_API_BASE: 'http://127.0.0.1:9',
  };
  expect(readConfig(whole)).toMatchObject(whole);
});
