// What the owners' channel is made of, and what its parts share: finding the record, limits, reading who may speak for it.

import type { Asker } from '../../data/model/accounts.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { EditContext } from '../../data/releases/overlay-edit.ts';
import type { Release } from '../../data/releases/release.ts';
import type { Mailer } from '../../data/state/mail.ts';
import type { Mail } from '../../data/state/outbox.ts';
import { openRequest } from '../../data/state/owners/requests.ts';
import type { Quotas } from '../../data/state/quotas.ts';
import type { Store } from '../../data/state/store.ts';
import { normalEmail } from '../access/emails.ts';
import { type NetworkQuota, takeUnit } from '../access/network-quotas.ts';
import { secondsToMidnight } from '../access/previews.ts';
import { ApiError } from '../contract/errors.ts';
import { countDomainRecords, coversHost, isOpenToAll, mailDomain, parseHost } from './business.ts';

export interface OwnersParts {
  store: Store;
  quotas: Quotas;
  mailer: Pick<Mailer, 'send' | 'post'>;
  base_url: string;
  editing: EditContext;
  /** Called for each opt-out that waits for an operator because its dataset had too many at once. */
  onHeldOptOut(dataset: string): void;
}

/** Sends a mail without which there is no going on; `unavailable` where no server takes it. */
export async function sendNow({ mailer }: Pick<OwnersParts, 'mailer'>, mail: Mail, now: number): Promise<void> {
  await mailer.send(mail, new Date(now)).catch(() => {
    throw new ApiError('unavailable', 'The mail could not be sent; try again in a while.', { retry_after_seconds: 60 });
  });
}

/** Requests about records from one network a day. */
const ATTEMPTS: NetworkQuota = { name: 'owners', address: 40, blocks: { 48: 120 } };

/**
 * A day, for one domain in one dataset: requests from one network address, removals at once, and requests that an operator has to look at. The last two
 * count what took effect, so that requests from elsewhere do not keep the owner from asking.
 */
export const DAILY_LIMITS = { asked: 20, removals: 20, reviews: 200 };

/** Counts one of so many a day; `rate_limited` beyond. */
export async function spendQuota(
  quotas: Quotas,
  name: string,
  quota: number,
  asker: Asker,
  matter: string,
): Promise<void> {
  const now = new Date(asker.now);
  if ((await quotas.take({ name, quota }, 1, now)) === 0) throw tooMany(`${quota} ${matter}`, now);
}

const tooMany = (what: string, now: Date) =>
  new ApiError('rate_limited', `More than ${what} today. Try again after midnight UTC.`, {
    retry_after_seconds: secondsToMidnight(now),
  });

/** Counts a request about a domain for the address it came from: one network cannot use up what another may ask. */
export async function spendRequest(
  quotas: Quotas,
  matter: 'claims' | 'opt-outs',
  of: string,
  asker: Asker,
): Promise<void> {
  await spendQuota(
    quotas,
    `${matter} ${of} ${asker.address}`,
    DAILY_LIMITS.asked,
    asker,
    `${matter} of this domain from your address`,
  );
}

/** Puts a request before the operators; a domain's share of the list is bounded. */
export async function requestReview(
  { store, quotas }: Pick<OwnersParts, 'store' | 'quotas'>,
  request: Parameters<typeof openRequest>[1],
  domain: string,
  asker: Asker,
): Promise<void> {
  await spendQuota(
    quotas,
    `reviews ${request.dataset} ${domain}`,
    DAILY_LIMITS.reviews,
    asker,
    'requests about this domain',
  );
  await openRequest(store, request, asker.now);
}

/** The record of an id or slug; `unknown_entity`. */
export async function findRecord({ engine, pack }: Release, ref: string): Promise<StoredRecord> {
  const [ordinal] = await engine.resolve([ref.toLowerCase()]);
  if (ordinal === null || ordinal === undefined) throw new ApiError('unknown_entity', `${pack.id} has no such record.`);
  const [stored] = await engine.bodies([ordinal]);
  return JSON.parse(stored!.body) as StoredRecord;
}

/** An e-mail address that can be one; 422 otherwise, named by the member of the body it stood in. */
export function readEmail(email: string, member: string): { email: string; normal: string; domain: string } {
  const normal = normalEmail(email);
  const domain = mailDomain(email);
  if (normal !== null && domain !== null) return { email, normal, domain };
  const issue = { loc: ['body', member], msg: 'must be an e-mail address', type: 'value_error' };
  throw new ApiError('validation_failed', `${member}: ${issue.msg}`, { detail: [issue] });
}

/** What somebody asks about a record: the record, and the address that is to speak for it. Counts as an attempt of the network address. */
export async function readOwnerRequest(
  quotas: Quotas,
  release: Release,
  asked: { entity_id: string; email: string; member: string },
  asker: Asker,
): Promise<{ record: StoredRecord; domain: string; normal: string }> {
  const record = await findRecord(release, asked.entity_id);
  const { domain, normal } = readEmail(asked.email, asked.member);
  const now = new Date(asker.now);
  const used = await takeUnit(quotas, ATTEMPTS, asker.address, now);
  if (used !== null) throw tooMany(`${used.quota} requests about records from ${used.block}`, now);
  return { record, domain, normal };
}

/** Why a person has to decide about a domain that many records share. */
export const sharedDomainReason = ({ pack }: Release, domain: string): string =>
  `More than ${pack.owner.shared_domain_bound} records share the domain ${domain}.`;

/** What an address of a domain is to a record: `own`, or `shared` with more records than the pack lets one domain speak for. */
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

/** The refusal of an address that does not speak for a record. It does not say which domain would: that may be paid for. */
export function domainMismatch(release: Release): ApiError {
  return new ApiError('domain_mismatch', 'This address is not of the domain that the record names as its own.', {
    alternative_action:
      release.pack.owner.domain === null
        ? 'Records of this dataset name no domain, so that nobody can claim them.'
        : 'Use an address at the domain of the record itself or of the company above it; addresses of mail providers never count.',
  });
}
