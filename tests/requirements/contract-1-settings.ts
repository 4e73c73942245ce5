// Requirements of contract section 1: commands and settings.
import { done, section } from './model.ts';

export const commands = section('contract 1', {
  'command.start': done('npm ci && npm start collects, builds and serves on port 8787, with progress on the way'),
  'command.start-again': done('a second start finds the release and serves within seconds'),
  'command.test': done('npm ci && npm test passes without network and with nothing else installed'),
  'command.test-live': done('npm run test:live asks the same questions on the real packs; .ci/run calls it'),
  'command.nightly': done('npm run nightly collects, builds, renders and publishes, safe to kill and to repeat'),
  'command.bench': done('npm run bench prints our measurements beside their baselines, as ratios'),
  'command.package': done(
    'the package dataset-register, installed in a folder with a pack, collects, builds and serves',
  ),
  'setting.one-line-error': done('a wrong setting stops the process with one clear line that names it'),
  'setting.port-host': done('PORT and HOST, 8787 and 127.0.0.1 by default, say where the API listens'),
  'setting.base-url': done('BASE_URL is in every link, http://localhost:$PORT by default'),
  'setting.no-other-host': done('nothing else in the code knows a host name'),
  'setting.data-dir': done('DATA_DIR, ./data/var, holds facts, releases, accounts, outbox'),
  'setting.dist-dir': done('DIST_DIR, ./dist, is what static hosting serves'),
  'setting.pack-dirs': done('PACK_DIRS lists folders of packs; one outside the repository works like a bundled one'),
  'setting.database-url': done('DATABASE_URL moves the state from SQLite to PostgreSQL, shared by all processes'),
  'setting.releases-url': done('RELEASES_URL shares releases and facts of several machines; it needs DATABASE_URL'),
  'setting.redis-url': done('REDIS_URL shares rate limits and quotas between processes'),
  'setting.admin-keys': done('ADMIN_KEYS lists admin keys of at least 32 characters'),
  'setting.admin-key-generated': done('without ADMIN_KEYS one is made at first start, shown once, stored hashed'),
  'setting.trust-proxy': done('TRUST_PROXY hops of X-Forwarded-For are believed, counted from the right; 0 by default'),
  'setting.mail': done('SMTP_URL and MAIL_FROM send mail; without them each mail is a file in the outbox'),
  'setting.stripe': done(
    'STRIPE_* set the checkout; without them a sandbox where BASE_URL and HOST are loopback and TRUST_PROXY is 0 or CHECKOUT=sandbox, elsewhere 503',
  ),
  'setting.x402': done('X402_* set x402; without them PAYMENT-REQUIRED has empty accepts and says so'),
  'setting.eur-usd': done('EUR_USD has a documented default and makes price_usd; x402 asks the ceiling'),
  'setting.secrets': done('signing and cookie secrets are made at first start and shared through the store'),
});
