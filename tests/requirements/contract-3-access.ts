// Requirements of contract section 3: the gate, credentials, charges, previews, prices and plans.
import { done, section } from './model.ts';

export const gate = section('contract 3', {
  'gate.identify': done('a bad credential spends the bucket of the IP and is 401, past the bucket 429'),
  'gate.rate-limit': done('the rate limit comes second, with headers on every gated answer'),
  'gate.exists': done('dataset and record are 404 before any price is named'),
  'gate.conditional': done('a conditional request on schema and record is 304, nothing charged or settled'),
  'gate.unpaid': done('an anonymous unpaid call without previews is 402 before parsing'),
  'gate.validate': done('parsing and validation (400, 422) come before may and can pay'),
  'gate.permit': done('may they (403) comes before can they pay (402)'),
  'gate.no-charge': done('nothing is charged for an answer that is not 2xx, nor for HEAD'),
  'gate.head': done('HEAD never runs a paid operation, and no header of it depends on the result'),
  'gate.cursor': done(
    'cursors are encrypted and authenticated under the shared secret; the same page has the same one',
  ),
  'gate.tag': done('the tag of a paid record is an HMAC, the same for every caller; at most 10 are compared'),
});

export const credentials = section('contract 3', {
  'credential.order': done('Authorization, then X-API-Key, then api_key'),
  'credential.query': done('api_key is GET only, answered no-store with no-referrer'),
  'credential.query-hidden': done('api_key is never in logs, links or cursors'),
  'credential.operator-url': done("an operator's key in a URL is refused on every path"),
  'credential.format': done('keys are dsr_ and 43 base62 characters, the last six a checksum'),
  'credential.hashed': done('only the hash of a key is stored'),
  'credential.oauth-where': done('OAuth tokens work on data operations, MCP, A2A and GET /v1/keys/me only'),
  'credential.oauth-no-signin': done('an OAuth token cannot sign in to OAuth'),
  'credential.admin-free': done('admin keys are never charged nor rate limited'),
  'credential.admin-endpoints': done('on admin endpoints no credential is 401, an ordinary key 403'),
  'credential.ops-login': done('/ops pages send a browser to the login'),
});

export const charges = section('contract 3', {
  'charge.transaction': done('a charge and its ledger row are one transaction'),
  'charge.never-negative': done('no call takes a balance below zero, however many run at once'),
  'charge.refund-negative': done('a refund or dispute may take it below zero; calls then answer 402'),
  'charge.refund-once': done('an operator refunds a charge or a top-up once; x402 payments cannot be refunded'),
  'charge.idempotency': done('Idempotency-Key charges once and repeats the stored answer for 24 hours'),
  'charge.idempotency-length': done('an Idempotency-Key not of 16 to 128 characters is 422'),
  'charge.idempotency-conflict': done('an Idempotency-Key with another request is 409'),
  'charge.idempotency-optout': done('a stored answer is dropped when its record is opted out'),
  'charge.empty': done('an answer without records, rows or values is free where its conditions are public'),
  'charge.headers': done('charged answers carry X-Charge-EUR and X-Balance-EUR'),
  'charge.max-price': done('X-Max-Price-EUR makes a dearer call 403 limit_exceeded, uncharged, without payment terms'),
});

export const previews = section('contract 3', {
  'preview.public-only': done('an anonymous search returns public fields only'),
  'preview.unit': done('each record returned spends one of 20 a day, per IP and dataset'),
  'preview.shortened': done('when less than a page is left, the page is shortened to it'),
  'preview.exhausted': done('at zero it is 402'),
  'preview.non-public': done('naming a non-public attribute in fields, sort or a filter anonymously is 402'),
  'preview.others-402': done('every other paid operation without a credential is 402'),
  'preview.paid-entities': done('GET /v1/{ds}/paid/entities is search without previews'),
  'leak.facets-floor': done(
    'facets by a non-public attribute without a filter withhold values with fewer than 5 records and count them',
  ),
  'leak.facets-priced': done('other facets that name a non-public attribute cost one search and are exact'),
  'leak.facets-words': done('in facets q searches public text for every caller but operators'),
  'leak.facets-anonymous': done('anonymous facets with a filter on a non-public attribute are 402'),
  'leak.profiles': done('profiles follow the same rule'),
  'leak.free-answers': done('no free answer contains a non-public value or changes with one'),
  'leak.audit': done('audit.md never shows a non-public value'),
  'leak.refusals': done('a free refusal of a paid call contains no count, and needs credit'),
  'format.key-required': done('csv, ndjson and arrow without a key are 401 key_required, nothing settled'),
});

export const plans = section('contract 3', {
  'price.from-pack': done('prices come from the pack: search, get, facts, prices (default get), compare, stats'),
  'price.derived': done('batch is get times ids asked, similar is search, timeseries is stats'),
  'x402.after-answer': done('x402 settles when the answer is ready, which is withheld until then'),
  'x402.one-delivery': done('one payment, one delivery'),
  'x402.unclear': done('an unclear settlement is 503 with Retry-After, never a new 402'),
  'plan.payg': done('payg: 60 paid calls a minute'),
  'plan.pro': done('pro: 300 a minute, export and changes, 49 EUR a month'),
  'plan.scale': done('scale: 1200 a minute, export and changes, 199 EUR a month'),
  'plan.internal': done('internal: no limit, no charge, by admin grant only'),
  'plan.one-file': done('one file holds the plans'),
  'plan.free-rate': done('free calls: 300 a minute'),
  'plan.create': done('POST /v1/keys creates on payg; pro or scale adds a checkout_url, an unknown plan is 422'),
  'plan.subscribe': done('POST /v1/keys/subscribe answers checkout_url, plan, eur_per_month'),
  'plan.fallback': done('a plan falls back to payg when its paid period ends'),
  'plan.grant': done('grant takes an optional plan'),
  'abuse.creation': done('key creation is limited to 10 per IP a day'),
  'abuse.disposable': done('disposable mail domains are refused'),
  'abuse.recover': done('POST /v1/keys/recover mails a link that rotates a lost key'),
});
