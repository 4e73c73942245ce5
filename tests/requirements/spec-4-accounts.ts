// Requirements of specification section 4: opt-out, claims, keys, the operators' pages.
import { done, planned, section } from './model.ts';

export const accounts = section('spec 4', {
  'optout.delete': planned('DELETE /v1/optout removes a record, verified by the e-mail domain, free'),
  'claim.post': planned('POST /v1/claim sends a magic link, to business-domain addresses only'),
  'claim.verify': planned('GET /v1/claim/verify takes a required token and verifies the link'),
  'claim.put': planned('PUT /v1/claim lets the token holder edit the record'),
  'keys.create': done('POST /v1/keys answers 201 with the key'),
  'keys.create-conflict': done('POST /v1/keys is 409 when the e-mail already has a key'),
  'keys.me': done('GET /v1/keys/me answers the own balance, plan and ledger'),
  'keys.topup': done('POST /v1/keys/topup answers a link to a hosted checkout'),
  'keys.list': done('GET /v1/keys lists keys for admins'),
  'keys.revoke': done('DELETE /v1/keys/{key_id} revokes a key for admins; key_id is a UUID'),
  'keys.grant': done('POST /v1/keys/grant grants credits or a plan, for admins'),
  'ops.stats': planned('GET /ops/stats.json answers JSON to admins'),
  'ops.review': planned('GET /ops/review.json takes status (open) and limit (100)'),
  'ops.approve': planned('POST /ops/review/{item_id}/approve; item_id is a UUID'),
  'ops.reject': planned('POST /ops/review/{item_id}/reject; item_id is a UUID'),
  'ops.login-page': planned('GET /ops/login is an HTML page'),
  'ops.login': planned('POST /ops/login takes a form with key'),
  'ops.logout': planned('POST /ops/logout ends the session'),
  'ops.partial': planned('GET /ops/partials/review is an HTML fragment'),
  'ops.dashboard': planned('/ops and /ops/ are the HTML dashboard'),
});
