// Requirements of contract section 5: facts, consolidation, releases, feed, overlay, owners, collection.
import { done, section } from './model.ts';

export const facts = section('contract 5', {
  'fact.shape': done('a fact has entity, attribute, value, source_url, observed_at, confidence, evidence, kind, run'),
  'fact.append-only': done('facts are append-only Parquet under DATA_DIR/facts/{ds}, never rewritten'),
  'fact.no-half-file': done('a run that dies leaves no half file'),
  'data.format': done('a DATA_DIR or store of another format is refused with one sentence'),
  'fact.published-only': done('readings of a run without a release leave no trace after the next reading'),
  'release.signature': done('a machine refuses a release without a signature, or not the one that the store names'),
  'fact.confirmation': done('a source that says the same again gets a confirmation row, the fact stays'),
  'fact.observed-at': done('observed_at of provenance is the newest confirmation of the winning source'),
  'fact.first-and-confirmed': done('facts shows the first observation and, on each fact, its newest confirmation'),
});

export const consolidation = section('contract 5', {
  'consolidate.floor': done('only facts above the confidence floor compete'),
  'consolidate.newest': done('within one source the newest fact wins'),
  'consolidate.trust': done('between sources the trust rule of the pack decides'),
  'consolidate.disagreement': done('a disagreement publishes the winner and opens a review item'),
  'consolidate.decision': done('approve publishes the other value, reject keeps the winner'),
  'consolidate.jump': done('a jump past the bound is held until approved or confirmed'),
  'consolidate.kept': done('both facts are kept either way'),
});

export const releases = section('contract 5', {
  'release.immutable': done('a release is an immutable folder named by its content'),
  'release.manifest': done('the manifest has files, sizes, SHA-256 and row counts'),
  'release.atomic': done('current moves atomically'),
  'release.reload': done('a running API takes a new release without dropping a request'),
  'release.last-good': done('the last good release stays when a build fails'),
  'feed.recorded-at': done('recorded_at is unique and increasing, given when a change becomes visible'),
  'feed.exclusive': done('since and next_since are exclusive: reading on misses and repeats nothing'),
  'feed.limit': done('changes takes a limit up to 10,000'),
  'feed.observed-at': done('changelog, time series and as_of use observed_at'),
});

export const overlay = section('contract 5', {
  'overlay.everywhere': done('opt-outs, edits and approvals take effect in every channel at once'),
  'overlay.survives': done('they survive restarts and rebuilds and reach static hosting with the next publish'),
  'overlay.bulk': done('bulk files that hold an opted-out record are withheld (503) until rewritten'),
  'overlay.links': done('export links issued before an opt-out stop working'),
  'optout.domain': done('the contact must be of the domain of the record or a parent, never free mail'),
  'optout.mail': done('the contact is mailed a page whose button restores; a link alone changes nothing'),
  'optout.review': done('operators see the opt-out in the review list'),
  'optout.limits': done('opt-outs are limited per IP (IPv6 per /64 and /48) and per domain'),
  'optout.brake': done(
    'past 20 immediate removals an hour in a dataset further ones go to review, and operators are alerted',
  ),
  'optout.again': done('after a restore, another opt-out within 90 days needs a mailed confirmation'),
  'optout.no-domain': done('a pack without a domain: the request goes to review (202), a claim is 403'),
  'optout.post': done('POST /v1/optout is an alias'),
  'claim.link-24h': done('the magic link is valid 24 hours'),
  'claim.verify-idempotent': done('following the link only marks it verified, as often as it is followed'),
  'claim.before-verify': done('an edit before verification is 403 not_owner'),
  'claim.window': done('edits are possible until 30 minutes after the first verification'),
  'claim.verified-owner': done('verified_owner turns true with the first edit'),
  'claim.hashed': done('tokens are stored hashed'),
  'claim.edit': done('an edit is a fact of kind owner, confidence 1.0, validated against the schema'),
  'claim.editable': done('only owner-editable attributes, never identity or the domain'),
});

export const collection = section('contract 5', {
  'collect.signed': done('HTTP requests of the collector are signed (RFC 9421, Web Bot Auth)'),
  'collect.polite': done('they obey robots.txt, are limited per host, conditional and retried with backoff'),
  'collect.npm': done('npm sources are fetched by pinned version and integrity, unpacked, never run'),
  'collect.source-url': done('source_url of an npm source is the home page of its upstream'),
});
