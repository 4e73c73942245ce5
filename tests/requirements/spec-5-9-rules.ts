// Requirements of specification sections 5 to 9: authentication, events, errors, limits, versioning.
import { done, section } from './model.ts';

export const authentication = section('spec 5', {
  'auth.anonymous': done('no credential: free endpoints and the daily preview quota per IP'),
  'auth.quota-402': done('exceeding the quota is 402, not 401'),
  'auth.bearer': done('Authorization: Bearer <key> identifies a key'),
  'auth.x-api-key': done('X-API-Key is the accepted alternative'),
  'auth.query-key': done('api_key in the query serves browser testing'),
  'auth.charged': done('each paid call is charged to the balance of its key'),
  'auth.x402-required': done('an unpaid request gets 402 with PAYMENT-REQUIRED'),
  'auth.x402-signature': done('the client repeats the request with PAYMENT-SIGNATURE'),
  'auth.x402-response': done('the paid answer carries PAYMENT-RESPONSE'),
  'auth.x402-tokens': done('x402 takes USDC and USDT on base, USDT through Permit2; the pack sets the price'),
  'auth.oauth-registration': done('clients register themselves; with an API key they also get client_credentials'),
  'auth.oauth-pkce': done('authorization code needs PKCE with S256'),
  'auth.oauth-consent': done('the person signs in with their key and consents to spending from it'),
  'auth.oauth-token': done('access tokens are ES256 JWTs, checked against the key set, valid one hour'),
  'auth.oauth-refresh': done('refresh tokens are revocable'),
  'auth.oauth-scope': done('the scope is read'),
  'auth.no-openid': done('there is no id_token and no openid-configuration'),
  'auth.unknown-key': done('an unknown or revoked key is 401'),
  'auth.must-pay': done('a valid credential whose call must be paid is 402'),
  'auth.www-authenticate': done('a 401 points to the protected-resource metadata in WWW-Authenticate'),
  'auth.plan-403': done('an endpoint that needs a plan is 403 without one'),
  'auth.admin': done('key listing, revoke, grant and ops need an admin key'),
});

export const events = section('spec 6', {
  'events.pull': done('changes are read from changes and changelog; nothing is pushed'),
});

export const errors = section('spec 7', {
  'error.shape': done('every /v1 error is JSON with error, message, is_retriable and documentation_url'),
  'error.names-parameter': done('the message names the offending parameter'),
  'error.retry-after': done('retry_after_seconds is in the body of a 429'),
  'error.documentation': done('documentation_url points to the agent guide'),
  'error.402-members': done('a 402 also has price_eur, price_usd and how_to_pay'),
  'error.304': done('If-None-Match on schema and record gives 304 before any charge or quota'),
  'error.400': done('unknown filters, malformed near, too many ids and the like are 400'),
  'error.401': done('an invalid or unknown key is 401'),
  'error.402': done('payment required, insufficient credits or quota exceeded is 402'),
  'error.403': done('a plan that is missing is 403'),
  'error.404': done('an unknown dataset, an unknown record, an opted-out record is 404'),
  'error.409': done('registering an e-mail again is 409'),
  'error.422': done('a parameter or body that fails validation is 422 with the validation body'),
  'error.429': done('past the rate limit is 429, retriable, with Retry-After and retry_after_seconds'),
});

export const limits = section('spec 8', {
  'limit.paid-rate': done('60 paid calls a minute per key or IP, more by plan'),
  'limit.free-rate': done('300 free calls a minute, in a bucket of their own'),
  'limit.headers': done('gated answers carry X-RateLimit-Limit, -Remaining and -Reset'),
  'limit.previews': done('20 preview records a day per IP and dataset'),
  'limit.search-page': done('search pages: 100 JSON records, 1000 csv or ndjson records with a key'),
  'limit.batch': done('100 ids per batch'),
  'limit.compare': done('5 ids per compare'),
  'limit.similar': done('similar 1 to 100, 10 by default'),
  'limit.facets': done('facets 1 to 200, 50 by default'),
  'limit.changelog': done('changelog 1 to 365 days, 1 to 500 items'),
  'limit.timeseries': done('timeseries 1 to 366 days, 5000 records'),
  'limit.welcome': done('0.50 EUR of welcome credit per key, one key per e-mail'),
  'limit.token': done('an access token lives one hour'),
  'limit.pricing': done('batch is get times ids, similar a search, timeseries a stats call, free ones nothing'),
  'limit.caching': done('schema and record answers have ETag and Last-Modified; paid HTML is not cached'),
});

export const versioning = section('spec 9', {
  'version.declared': done('the interface description declares version 1.0'),
  'version.prefix': done('data endpoints stand under /v1, OAuth metadata also under /v1'),
  'version.new-datasets': done('a new dataset appears in every channel without a change of the interface'),
});
