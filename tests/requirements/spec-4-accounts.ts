// Requirements of specification section 4: opt-out, claims, keys, the operators' pages.
import { done, section } from './model.ts';

export const accounts = section('spec 4', {
  'optout.delete': done('DELETE /v1/optout removes a record, verified by the e-mail domain, free'),
  'claim.post': done('POST /v1/claim sends a magic link, to business-domain addresses only'),
  'claim.verify': done('GET /v1/claim/verify takes a required token and verifies the link'),
  'claim.put': done('PUT /v1/claim lets the token holder edit the record'),
  'keys.create': done('POST /v1/keys answers 201 with the key'),
  'keys.create-conflict': done('POST /v1/keys is 409 when the e-mail already has a key'),
  'keys.me': done('GET /v1/keys/me answers the own balance, plan and ledger'),
  'keys.topup': done('POST /v1/keys/topup answers a link to a hosted checkout'),
  'keys.list': done('GET /v1/keys lists keys for admins'),
  'keys.revoke': done('DELETE /v1/keys/{key_id} revokes a key for admins; key_id is a UUID'),
  'keys.rotate': done('POST /v1/keys/me/rotate replaces the secret of the own key: id, key (contract section 9)'),
  'keys.close': done('DELETE /v1/keys/me revokes the own key: id, revoked (contract section 9)'),
  'keys.usage': done('GET /v1/keys/me/usage?days=1..90 (30): days of date, dataset, operation, calls, amount_eur'),
  'keys.grant': done('POST /v1/keys/grant grants credits or a plan, for admins'),
  'ops.stats': done('GET /ops/stats.json answers JSON to admins'),
  'ops.review': done('GET /ops/review.json takes status (open) and limit (100)'),
  'ops.approve': done('POST /ops/review/{item_id}/approve; item_id is a UUID'),
  'ops.reject': done('POST /ops/review/{item_id}/reject; item_id is a UUID'),
  'ops.login-page': done('GET /ops/login is an HTML page'),
  'ops.login': done('POST /ops/login takes a form with key'),
  'ops.logout': done('POST /ops/logout ends the session'),
  'ops.partial': done('GET /ops/partials/review is an HTML fragment'),
  'ops.dashboard': done('/ops and /ops/ are the HTML dashboard'),
});
