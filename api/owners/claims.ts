// Claims: a magic link to an address at the record's domain, then half an hour to set the attributes that
// owners may edit.
import type { Requester } from '../../data/model/accounts.ts';
import type { ValidationIssue } from '../../data/model/errors.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { OwnerFact } from '../../data/plan/overlay.ts';
import { editRecord, withEntry } from '../../data/releases/overlay-edit.ts';
import type { Release } from '../../data/releases/release.ts';
import type { Owners, VerifiedClaim } from '../../data/review/owners.ts';
import { recordAudit } from '../../data/state/audit.ts';
import { type Claim, claimOf, mayEdit, newClaim, verifyClaim } from '../../data/state/owners/claims.ts';
import { comparedValue } from '../../packs/define/digits.ts';
import { recordUrl } from '../../packs/define/links.ts';
import type { Attribute } from '../../packs/define/model.ts';
import { checkValue } from '../../packs/define/schema.ts';
import { ApiError } from '../contract/errors.ts';
import { claimMail } from './mails.ts';
import {
  domainMismatch,
  domainRelation,
  findRecord,
  type OwnersParts,
  readOwnerRequest,
  requestReview,
  requireDelivery,
  sharedDomainReason,
  spendRequest,
} from './parts.ts';

/** Maximum length of a value as JSON text: a description is a paragraph, not a book. */
const MAX_LENGTH = 4_000;

/**
 * Creates a claim and mails its link; `unavailable` when the mail server refuses it. Sends no mail if the mailbox
 * got one recently, unless an operator decided (`always`).
 */
export async function sendClaim(
  parts: Pick<OwnersParts, 'store' | 'mailer' | 'base_url'>,
  claimed: { dataset: string; entity_id: string; name: string; email: string; email_normal: string; domain: string },
  now: number,
  { always = false, network }: { always?: boolean; network?: string } = {},
): Promise<void> {
  const { name, ...claim } = claimed;
  const { store, mailer, base_url } = parts;
  let mail_id: string | null = null;
  await newClaim(store, claim, now, always, async (tx, token) => {
    const url = `${base_url}/v1/claim/verify?token=${token}`;
    const mail = claimMail(claimed.email, { dataset: claimed.dataset, name }, url);
    mail_id = await mailer.post(tx, mail, new Date(now), { token, network });
  });
  if (mail_id !== null) await requireDelivery(parts, mail_id);
}

const invalidValues = (issues: ValidationIssue[]): ApiError => {
  const [first] = issues;
  return new ApiError('validation_failed', `${first?.loc.slice(1).join('.')}: ${first?.msg}`, { detail: issues });
};

/** The edits as JSON text; null withdraws an owner's value. Throws one 422 that lists every invalid value. */
function readEdits(release: Release, values: Readonly<Record<string, unknown>>): Map<string, string | null> {
  const { pack } = release;
  const editable = new Map(
    pack.attributes
      .filter((attribute) => attribute.editable)
      .map((attribute): [string, Attribute] => [attribute.name, attribute]),
  );
  const issues: ValidationIssue[] = [];
  const edits = new Map<string, string | null>();
  const wrong = (name: string, msg: string, type: string) =>
    void issues.push({ loc: ['body', 'values', name], msg, type });
  for (const [name, value] of Object.entries(values)) {
    const attribute = editable.get(name);
    if (!attribute) {
      wrong(
        name,
        `cannot be set by owners; they can set ${[...editable.keys()].join(', ') || 'no attribute'}`,
        'not_editable',
      );
      continue;
    }
    const check = value === null ? null : checkValue(attribute, value);
    const text = check === null ? null : check.ok ? JSON.stringify(comparedValue(attribute, check.value)) : '';
    if (check !== null && !check.ok) wrong(name, `must be ${check.reason}`, 'value_error');
    else if (text !== null && text.length > MAX_LENGTH)
      wrong(name, `must have at most ${MAX_LENGTH} characters`, 'string_too_long');
    else edits.set(name, text);
  }
  if (issues.length === 0 && edits.size === 0)
    issues.push({ loc: ['body', 'values'], msg: 'must have at least one value', type: 'too_short' });
  if (issues.length > 0) throw invalidValues(issues);
  return edits;
}

/** The operations of claims: request, verify, edit. */
export function claimHandlers(parts: OwnersParts): Pick<Owners, 'claim' | 'verify' | 'update'> {
  return {
    claim: (release, request, requester) => claim(parts, release, request, requester),
    verify: (token, requester) => verify(parts, token, requester),
    update: (token, values, requester) => update(parts, token, values, requester),
  };
}

async function claim(
  parts: OwnersParts,
  release: Release,
  { entity_id, email }: { entity_id: string; email: string },
  requester: Requester,
): Promise<'sent' | 'review'> {
  const { quotas } = parts;
  const { pack } = release;
  const address = { entity_id, email, member: 'email' };
  const { record, domain, normal } = await readOwnerRequest(quotas, release, address, requester);
  const relation = await domainRelation(release, record, domain);
  if (relation === 'none') throw domainMismatch(release, record);
  await spendRequest(quotas, 'claims', `${pack.id} ${domain}`, requester);
  const about = { dataset: pack.id, entity_id: record.id, name: record.name };
  if (relation === 'shared') {
    const because = sharedDomainReason(release, domain);
    const request = { kind: 'claim' as const, ...about, slug: record.slug, contact: email, reason: null, because };
    await requestReview(parts, request, domain, requester);
    return 'review';
  }
  const claimed = { ...about, email, email_normal: normal, domain };
  await sendClaim(parts, claimed, requester.now, { network: requester.address });
  return 'sent';
}

async function verify({ store }: OwnersParts, token: string, { now, request_id }: Requester): Promise<VerifiedClaim> {
  const verified = await verifyClaim(store, token, now);
  if (verified === null)
    throw new ApiError('not_found', 'This link has expired or is invalid; POST /v1/claim sends another.');
  const { id, dataset, entity_id, email, until } = verified.claim;
  const entry = { at: now, who: `owner ${email}`, action: 'verify', dataset, entity_id, subject: id, request_id };
  if (verified.first) await recordAudit(store, entry);
  return { dataset, entity_id, expires_at: until };
}

async function update(
  { store, editing, base_url }: OwnersParts,
  token: string,
  values: Readonly<Record<string, unknown>>,
  requester: Requester,
): Promise<{ dataset: string; record: StoredRecord }> {
  const claim = await claimOf(store, token);
  if (claim === null || !mayEdit(claim, requester.now))
    throw new ApiError('not_owner', 'This token is not verified or has expired; POST /v1/claim sends another link.');
  const { dataset, entity_id, domain } = claim;
  const release = editing.current(dataset);
  if (!release) throw new ApiError('unknown_dataset', `The dataset ${dataset} no longer exists.`);
  const record = await findRecord(release, entity_id);
  const edits = readEdits(release, values);
  const isDomainPublic = release.pack.attributes.some(
    (attribute) => attribute.name === release.pack.owner.domain && attribute.public,
  );
  // The source of a public value must not reveal a domain that is paid data.
  const source_url = isDomainPublic ? `https://${domain}/` : recordUrl(base_url, dataset, record.slug);
  await storeEdits(editing, claim, edits, source_url, requester);
  // The release as it is served after the edit, which sets the time of publication.
  const served = editing.current(dataset) ?? release;
  return { dataset, record: await findRecord(served, entity_id) };
}

/** Publishes the owner's edits in the overlay, and writes them with an entry of the audit log. */
async function storeEdits(
  editing: OwnersParts['editing'],
  { id: claim_id, dataset, entity_id, email }: Claim,
  edits: ReadonlyMap<string, string | null>,
  source_url: string,
  { now, request_id }: Requester,
): Promise<void> {
  const source = { source_url, evidence: 'Set by the verified owner of the record' };
  let facts: Omit<OwnerFact, 'version'>[] = [];
  const { after } = await editRecord(editing, {
    dataset,
    entity: entity_id,
    now,
    alter: (overlay, version) => {
      if (overlay.removed.has(entity_id)) throw new ApiError('unknown_entity', 'This record is opted out.');
      // Of two edits within a millisecond the later one wins.
      const last = overlay.ownerFacts.get(entity_id)?.at(-1)?.at ?? 0;
      const at = Math.max(now, last + 1);
      facts = [...edits].map(([attribute, value]) => ({ entity: entity_id, attribute, value, at, ...source }));
      const entries = facts.map((fact) => ({ ...fact, version }));
      return { ...overlay, ownerFacts: withEntry(overlay.ownerFacts, entity_id, ...entries) };
    },
    write: async (db, version) => {
      const rows = facts.map(({ entity, ...fact }) => ({ dataset, entity_id: entity, claim_id, version, ...fact }));
      await db.insertInto('owner_facts').values(rows).execute();
      const who = `owner ${email}`;
      const entry = { at: now, who, action: 'edit', dataset, entity_id, subject: claim_id, request_id };
      await recordAudit({ db }, { ...entry, details: { values: Object.fromEntries(edits) } });
    },
  });
  if (after === null) throw new ApiError('unknown_entity', 'This record is no longer published.');
}
