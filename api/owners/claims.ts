// Claims: a magic link to an address of the record's domain, and for half an hour the right to set what the pack lets owners set.
import type { ValidationIssue } from '../../data/model/errors.ts';
import type { OwnerFact } from '../../data/plan/overlay.ts';
import { editRecord, withEntry } from '../../data/releases/overlay-edit.ts';
import type { Release } from '../../data/releases/release.ts';
import type { Owners } from '../../data/review/owners.ts';
import { recordDeed } from '../../data/state/audit.ts';
import { claimOf, dropClaim, mayEdit, newClaim, verifyClaim } from '../../data/state/owners/claims.ts';
import { recordUrl } from '../../packs/define/links.ts';
import type { Attribute } from '../../packs/define/model.ts';
import { checkValue } from '../../packs/define/schema.ts';
import { ApiError } from '../contract/errors.ts';
import { claimMail } from './mails.ts';
import {
  askReview,
  mismatch,
  type Parts,
  readAsked,
  recordNamed,
  sendNow,
  spendAsked,
  standing,
  whyShared,
} from './parts.ts';

/** Longest value, as JSON text: a description is a paragraph, not a book. */
const LONGEST = 4_000;

/**
 * Makes a claim and mails its link; `unavailable` where no mail server takes it. No mail where the mailbox got one lately, unless an operator decided
 * (`always`).
 */
export async function sendClaim(
  parts: Pick<Parts, 'store' | 'mailer' | 'base_url'>,
  given: { dataset: string; entity_id: string; name: string; email: string; email_normal: string; domain: string },
  now: number,
  always = false,
): Promise<void> {
  const { name, ...claim } = given;
  const token = await newClaim(parts.store, claim, now, always);
  if (token === null) return;
  const url = `${parts.base_url}/v1/claim/verify?token=${token}`;
  await sendNow(parts, claimMail(given.email, { dataset: given.dataset, name }, url), now).catch(async (error) => {
    await dropClaim(parts.store, token);
    throw error;
  });
}

const refused = (issues: ValidationIssue[]): ApiError => {
  const [first] = issues;
  return new ApiError('validation_failed', `${first?.loc.slice(1).join('.')}: ${first?.msg}`, { detail: issues });
};

/** The values as they will be kept, as JSON text; null takes one back. Throws one 422 with a line for each that is wrong. */
function checked(release: Release, values: Readonly<Record<string, unknown>>): Map<string, string | null> {
  const { pack } = release;
  const editable = new Map(
    pack.attributes.filter((each) => each.editable).map((each): [string, Attribute] => [each.name, each]),
  );
  const issues: ValidationIssue[] = [];
  const kept = new Map<string, string | null>();
  const wrong = (name: string, msg: string, type: string) =>
    void issues.push({ loc: ['body', 'values', name], msg, type });
  for (const [name, value] of Object.entries(values)) {
    const attribute = editable.get(name);
    if (!attribute) {
      wrong(
        name,
        `is not for owners to set; they may set ${[...editable.keys()].join(', ') || 'nothing here'}`,
        'not_editable',
      );
      continue;
    }
    const found = value === null ? null : checkValue(attribute, value);
    const text = found === null ? null : found.ok ? JSON.stringify(found.value) : '';
    if (found !== null && !found.ok) wrong(name, `must be ${found.reason}`, 'value_error');
    else if (text !== null && text.length > LONGEST)
      wrong(name, `must have at most ${LONGEST} characters`, 'string_too_long');
    else kept.set(name, text);
  }
  if (issues.length === 0 && kept.size === 0)
    issues.push({ loc: ['body', 'values'], msg: 'must hold at least one value', type: 'too_short' });
  if (issues.length > 0) throw refused(issues);
  return kept;
}

/** Claims, from the request to the edit. */
export function claims(parts: Parts): Pick<Owners, 'claim' | 'verify' | 'update'> {
  const { store, quotas, editing, base_url } = parts;
  return {
    async claim(release, { entity_id, email }, asker) {
      const { pack } = release;
      const asked = { entity_id, email, member: 'email' };
      const { record, domain, normal } = await readAsked(quotas, release, asked, asker);
      const place = await standing(release, record, domain);
      if (place === 'none') throw mismatch(release);
      await spendAsked(quotas, 'claims', `${pack.id} ${domain}`, asker);
      const about = { dataset: pack.id, entity_id: record.id, name: record.name };
      if (place === 'shared') {
        const because = whyShared(release, domain);
        const request = { kind: 'claim' as const, ...about, slug: record.slug, contact: email, reason: null, because };
        await askReview(parts, request, domain, asker);
        return 'review';
      }
      await sendClaim(parts, { ...about, email, email_normal: normal, domain }, asker.now);
      return 'sent';
    },
    async verify(token, { now, request_id }) {
      const found = await verifyClaim(store, token, now);
      if (found === null)
        throw new ApiError('not_found', 'This link is over, or was never one; POST /v1/claim mails another.');
      const { id, dataset, entity_id, email, until } = found.claim;
      const deed = { at: now, who: `owner ${email}`, action: 'verify', dataset, entity_id, subject: id, request_id };
      if (found.first) await recordDeed(store, deed);
      return { dataset, entity_id, expires_at: until };
    },
    async update(token, values, { now, request_id }) {
      const claim = await claimOf(store, token);
      if (claim === null || !mayEdit(claim, now))
        throw new ApiError(
          'not_owner',
          'This token is not verified, or its time is over; POST /v1/claim mails another link.',
        );
      const { id: claim_id, dataset, entity_id, email, domain } = claim;
      const release = editing.current(dataset);
      if (!release) throw new ApiError('unknown_dataset', `There is no dataset ${dataset} any more.`);
      const record = await recordNamed(release, entity_id);
      const kept = checked(release, values);
      const open = release.pack.attributes.some((each) => each.name === release.pack.owner.domain && each.public);
      // Where the domain is paid for, its name must not stand beside a public value.
      const source_url = open ? `https://${domain}/` : recordUrl(base_url, dataset, record.slug);
      const told = { source_url, evidence: 'Set by the verified owner of the record' };
      let facts: Omit<OwnerFact, 'version'>[] = [];
      const { after } = await editRecord(editing, {
        dataset,
        entity: entity_id,
        now,
        alter: (overlay, version) => {
          if (overlay.removed.has(entity_id)) throw new ApiError('unknown_entity', 'This record is opted out.');
          // Of two edits in one millisecond the later one counts.
          const last = overlay.said.get(entity_id)?.at(-1)?.at ?? 0;
          const at = Math.max(now, last + 1);
          facts = [...kept].map(([attribute, value]) => ({ entity: entity_id, attribute, value, at, ...told }));
          return {
            ...overlay,
            said: withEntry(overlay.said, entity_id, ...facts.map((fact) => ({ ...fact, version }))),
          };
        },
        write: async (db, version) => {
          const rows = facts.map(({ entity, ...fact }) => ({ dataset, entity_id: entity, claim_id, version, ...fact }));
          await db.insertInto('owner_facts').values(rows).execute();
          const deed = {
            at: now,
            who: `owner ${email}`,
            action: 'edit',
            dataset,
            entity_id,
            subject: claim_id,
            request_id,
          };
          await recordDeed({ db }, { ...deed, told: { values: Object.fromEntries(kept) } });
        },
      });
      if (after === null) throw new ApiError('unknown_entity', 'Nothing of this record is published any more.');
      // As it is served from now on: when it became visible is known since the change is made.
      const served = editing.current(dataset) ?? release;
      return { dataset, record: await recordNamed(served, entity_id) };
    },
  };
}
