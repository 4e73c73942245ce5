// Shared by the owners' operations: dependencies, limits, and the check of a record's domain.

import type { Requester } from '../../data/model/accounts.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import { unknownEntity } from '../../data/queries/nearest.ts';
import type { EditContext } from '../../data/releases/overlay-edit.ts';
import type { Release } from '../../data/releases/release.ts';
import type { MailQueue } from '../../data/state/mail.ts';
import { openRequest } from '../../data/state/owners/requests.ts';
import type { Quotas } from '../../data/state/quotas.ts';
import type { Store } from '../../data/state/store.ts';
import type { Pack } from '../../packs/define/model.ts';
import { normalEmail } from '../access/emails.ts';
import { type NetworkQuota, takeUnit } from '../access/network-quotas.ts';
import { secondsToMidnight } from '../access/previews.ts';
import { ApiError } from '../contract/errors.ts';
import { countDomainRecords, coversHost, isOpenToAll, mailDomain, ownerDomains, parseHost } from './business.ts';

export interface OwnersParts {
  store: Store;
  quotas: Quotas;
  mailer: Pick<MailQueue, 'post' | 'tryPost' | 'deliver'>;
  base_url: string;
  editing: EditContext;
  /** Called for each opt-out that waits for an operator because its dataset had too many at once. */
  onHeldOptOut(dataset: string): void;
}

/**
 * Sends a queued mail that the request needs. Throws `unavailable` if the server refuses it; one that it refuses for the
 * moment stays in the queue.
 */
export async function requireDelivery({ mailer }: Pick<OwnersParts, 'mailer'>, mail_id: string): Promise<void> {
  if ((await mailer.deliver(mail_id)) !== 'failed') return;
  const message = 'The mail server does not accept a mail to this address; check it, or try again later.';
  throw new ApiError('unavailable', message, { retry_after_seconds: 60 });
}

/** Requests from one network per day. */
export const ATTEMPTS: NetworkQuota = { name: 'owners', address: 40, blocks: { 48: 120 } };

/**
 * Limits per day, domain and dataset: requests from one network address, immediate removals, and requests
 * that an operator reviews. The last two count only what took effect, so that others' requests do not block
 * the owner.
 */
export const DAILY_LIMITS = { requests: 20, removals: 20, reviews: 200 };

/** Counts one unit of a daily quota; throws `rate_limited` beyond it. */
export async function spendQuota(
  quotas: Quotas,
  name: string,
  quota: number,
  requester: Requester,
  matter: string,
): Promise<void> {
  const now = new Date(requester.now);
  if ((await quotas.take({ name, quota }, 1, now)) === 0) throw tooMany(`${quota} ${matter}`, now);
}

/** The error beyond a daily quota. */
export const tooMany = (what: string, now: Date) =>
  new ApiError('rate_limited', `More than ${what} today. Try again after midnight UTC.`, {
    retry_after_seconds: secondsToMidnight(now),
  });

/**
 * Counts a request about a domain for its network address, so that one network cannot use up another's quota.
 */
export async function spendRequest(
  quotas: Quotas,
  matter: 'claims' | 'opt-outs',
  of: string,
  requester: Requester,
): Promise<void> {
  await spendQuota(
    quotas,
    `${matter} ${of} ${requester.address}`,
    DAILY_LIMITS.requests,
    requester,
    `${matter} of this domain from your address`,
  );
}

/** Opens a request for review by operators; each domain has a daily limit. */
export async function requestReview(
  { store, quotas }: Pick<OwnersParts, 'store' | 'quotas'>,
  request: Parameters<typeof openRequest>[1],
  domain: string,
  requester: Requester,
): Promise<void> {
  await spendQuota(
    quotas,
    `reviews ${request.dataset} ${domain}`,
    DAILY_LIMITS.reviews,
    requester,
    'requests about this domain',
  );
  await openRequest(store, request, requester.now);
}

/** The record of an id or slug. Throws `unknown_entity`. */
export async function findRecord(release: Release, ref: string): Promise<StoredRecord> {
  const { engine } = release;
  const [ordinal] = await engine.resolve([ref.toLowerCase()]);
  if (ordinal === null || ordinal === undefined) throw await unknownEntity(release, ref, {});
  const [stored] = await engine.bodies([ordinal]);
  return JSON.parse(stored!.body) as StoredRecord;
}

/** Parses an e-mail address; throws a 422 that names the `member` of the body. */
export function readEmail(email: string, member: string): { email: string; normal: string; domain: string } {
  const normal = normalEmail(email);
  const domain = mailDomain(email);
  if (normal !== null && domain !== null) return { email, normal, domain };
  const issue = { loc: ['body', member], msg: 'must be an e-mail address', type: 'value_error' };
  throw new ApiError('validation_failed', `${member}: ${issue.msg}`, { detail: [issue] });
}

/** Reads the record and the address of a request, and counts an attempt for the network address. */
export async function readOwnerRequest(
  quotas: Quotas,
  release: Release,
  request: { entity_id: string; email: string; member: string },
  requester: Requester,
): Promise<{ record: StoredRecord; domain: string; normal: string }> {
  const record = await findRecord(release, request.entity_id);
  const { domain, normal } = readEmail(request.email, request.member);
  const now = new Date(requester.now);
  const used = await takeUnit(quotas, ATTEMPTS, requester.address, now);
  if (used !== null) throw tooMany(`${used.quota} requests about records from ${used.block}`, now);
  return { record, domain, normal };
}

/** Why an operator has to decide about a domain that many records share. */
export const sharedDomainReason = ({ pack }: Release, domain: string): string =>
  `More than ${pack.owner.shared_domain_bound} records share the domain ${domain}.`;

/** The relation of a domain to a record; `shared`: with more records than the pack's bound for one domain. */
export async function domainRelation(
  release: Release,
  record: StoredRecord,
  domain: string,
): Promise<'own' | 'shared' | 'none'> {
  const { owner } = release.pack;
  const host = owner.domain === null ? null : parseHost(record.attributes[owner.domain]);
  if (host === null || isOpenToAll(domain) || !coversHost(domain, host)) return 'none';
  const count = await countDomainRecords(release, domain, owner.shared_domain_bound);
  return count > owner.shared_domain_bound ? 'shared' : 'own';
}

/**
 * Which address proves ownership of a record, as an instruction. A domain that is not public is not named, since it may
 * be a paid value.
 */
export function ownerAddressText({ owner, attributes }: Pack, record: StoredRecord): string {
  if (owner.domain === null) return 'We can’t verify owners in this dataset, so records can’t be edited here.';
  const providers = 'Mail providers such as Gmail can’t be verified.';
  if (!attributes.some((attribute) => attribute.public && attribute.name === owner.domain))
    return `Use an address at the domain of the record’s website: for www.example.com, name@example.com. ${providers}`;
  const host = parseHost(record.attributes[owner.domain]);
  const domains = host === null ? [] : ownerDomains(host).filter((domain) => !isOpenToAll(domain));
  if (domains.length === 0)
    return `This record has no domain yet, so no address can prove that it is yours. ${providers}`;
  return `Use an address ending in ${domains.map((domain) => `@${domain}`).join(' or ')}. ${providers}`;
}

/** The error for an address at another domain. */
export function domainMismatch({ pack }: Release, record: StoredRecord): ApiError {
  return new ApiError('domain_mismatch', 'This address is not at the domain of the record.', {
    alternative_action: ownerAddressText(pack, record),
  });
}
