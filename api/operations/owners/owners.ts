// Operations for owners of records: opt-out, claim, verify, edit (contract section 5). REST only, since they
// need a mailbox.

import { z } from 'zod';
import { type Parameter, parameters } from '../../../data/input/parameters.ts';
import { printable } from '../../../data/input/parse-values.ts';
import { DataError, validationError } from '../../../data/model/errors.ts';
import type { PublicRecord } from '../../../data/model/record.ts';
import { presentRecord } from '../../../data/queries/present.ts';
import type { Release } from '../../../data/releases/release.ts';
import type { OptOutResult, Owners } from '../../../data/review/owners.ts';
import { type Context, type Operation, operation } from '../../contract/operation.ts';
import { recordMarkdown } from '../../render/record-template.ts';
import type { About } from '../common/about.ts';
import { about, bodyInput, isoMilliseconds, memberList, serviceOf } from '../common/account.ts';
import { inputOf } from '../common/inputs.ts';
import { ABOUT_OUTPUT, RECORD_OUTPUT, time } from '../common/outputs.ts';
import { entity_report } from './report.ts';

function ownersOf(ctx: Context): Owners {
  const { owners } = ctx.service ?? {};
  if (!owners) throw new DataError('unavailable', 'This service has no operations for owners.');
  return owners;
}

/** The release of the dataset named in a body. */
function releaseOfDataset(ctx: Context, dataset: string): Release {
  const release = ctx.register.releases.find(({ pack }) => pack.id === dataset);
  if (!release) throw new DataError('unknown_dataset', `There is no dataset "${printable(dataset)}".`);
  return release;
}

const DATASET = z.string().min(1).max(100).describe('Dataset');
const ENTITY = z.string().min(1).max(200).describe('Id, slug or key of the record');
const ADDRESS = z.email().max(254);
/** A token has 43 characters; the bound keeps the look-up of wrong ones cheap. */
const TOKEN = z.string().min(1).max(200).describe('From the mailed link');
const ID = z.string().describe('Id of the record');

const OptOut = z.object({
  dataset: DATASET,
  entity_id: ENTITY,
  contact: ADDRESS.describe('E-mail address at the domain of the record or its parent domain'),
  reason: z.string().max(2_000).nullish().describe('Reason, shown to operators'),
});

const optOut = (method: 'DELETE' | 'POST', name: string, alias: string): Operation =>
  operation<z.infer<typeof OptOut>, OptOutResult & About>({
    name,
    title: 'Remove a record',
    description: `Removes a record from every channel immediately, if the contact's address is at its domain. The contact gets a link to restore it.${alias}`,
    rest: { method, path: '/v1/optout', personal: true },
    charge: { access: 'free' },
    docs: { group: 'owners', statuses: [200, 202] },
    formats: ['json', 'markdown'],
    ...bodyInput(OptOut),
    output: () =>
      z.object({
        status: z
          .enum(['removed', 'review', 'confirmation_sent'])
          .describe('202 but for removed: an operator decides, or the contact confirms by mail'),
        dataset: z.string(),
        entity_id: ID,
        ...ABOUT_OUTPUT,
      }),
    async run({ dataset, entity_id, contact, reason }, ctx) {
      const { requester } = serviceOf(ctx);
      const request = { entity_id, contact, reason: reason ?? null };
      const done = await ownersOf(ctx).optOut(releaseOfDataset(ctx, dataset), request, requester);
      return { status: done.status === 'removed' ? 200 : 202, body: { ...done, ...about(ctx) } };
    },
    markdown: (body) => memberList('Opt-out', body),
  });

const Claim = z.object({
  dataset: DATASET,
  entity_id: ENTITY,
  email: ADDRESS.describe(
    'E-mail address at the domain of the record or its parent domain; mail providers are not accepted',
  ),
});

const claim = operation<z.infer<typeof Claim>, { status: 'sent' | 'review' } & About>({
  name: 'claim_request',
  title: 'Claim a record',
  description:
    'Sends a link to an address at the record’s domain, with which its owner can edit the record. It is valid for 24 hours.',
  rest: { method: 'POST', path: '/v1/claim', personal: true },
  charge: { access: 'free' },
  docs: { group: 'owners', statuses: [200, 202] },
  formats: ['json', 'markdown'],
  ...bodyInput(Claim),
  output: () =>
    z.object({
      status: z
        .enum(['sent', 'review'])
        .describe('202 with review: too many records share the domain, an operator decides'),
      ...ABOUT_OUTPUT,
    }),
  async run({ dataset, entity_id, email }, ctx) {
    const { requester } = serviceOf(ctx);
    const status = await ownersOf(ctx).claim(releaseOfDataset(ctx, dataset), { entity_id, email }, requester);
    return { status: status === 'sent' ? 200 : 202, body: { status, ...about(ctx) } };
  },
  markdown: (body) => memberList('Claim', body),
});

/** `token` of a mailed link, sent once. */
const MAILED_TOKEN: Parameter<string> = {
  schema: () => TOKEN,
  parse(values, { name }) {
    const parsed = TOKEN.safeParse(values.length === 1 ? values[0] : values);
    if (parsed.success) return parsed.data;
    throw validationError(name, 'must be one token', 'value_error');
  },
};

type Verified = { status: 'verified'; dataset: string; entity_id: string; expires_at: string } & About;

const verify = operation<{ token: string }, Verified>({
  name: 'claim_verify',
  title: 'Verify a claim',
  description:
    'Verifies the token of a mailed link. Edits are possible for 30 minutes from the first verification; repeating it has no effect.',
  rest: { method: 'GET', path: '/v1/claim/verify', browser_page: '/claim', personal: true },
  charge: { access: 'free' },
  docs: { group: 'owners' },
  formats: ['json', 'markdown'],
  ...inputOf(parameters({ token: MAILED_TOKEN })),
  output: () =>
    z.object({
      status: z.literal('verified'),
      dataset: z.string(),
      entity_id: ID,
      expires_at: time('End of the time for edits'),
      ...ABOUT_OUTPUT,
    }),
  async run({ token }, ctx) {
    const { dataset, entity_id, expires_at } = await ownersOf(ctx).verify(token, serviceOf(ctx).requester);
    return { body: { status: 'verified', dataset, entity_id, expires_at: isoMilliseconds(expires_at), ...about(ctx) } };
  },
  markdown: (body) => memberList('Claim verified', body),
});

const Update = z.object({
  token: TOKEN,
  values: z
    .record(z.string(), z.unknown())
    .describe('Values by attribute; the schema marks editable attributes. null withdraws a value that you set'),
});

const update = operation<z.infer<typeof Update>, PublicRecord>({
  name: 'claim_update',
  title: 'Edit a claimed record',
  description:
    'Sets values of the claimed record. They are published in every channel immediately, with source.kind owner and confidence 1.',
  rest: { method: 'PUT', path: '/v1/claim', personal: true },
  charge: { access: 'free' },
  docs: { group: 'owners' },
  formats: ['json', 'markdown'],
  ...bodyInput(Update),
  output: () => RECORD_OUTPUT,
  async run({ token, values }, ctx) {
    const { requester } = serviceOf(ctx);
    const { dataset, record } = await ownersOf(ctx).update(token, values, requester);
    return { body: presentRecord(record, releaseOfDataset(ctx, dataset).pack, { ...moment(ctx), visibility: 'full' }) };
  },
  markdown: (record, ctx) => recordMarkdown(record, releaseOfDataset(ctx, record.dataset).pack),
});

const moment = ({ now, base_url }: Context) => ({ now, base_url });

/**
 * Operations for owners. Some proxies drop the body of a DELETE, so the opt-out has a POST too.
 *
 * @example
 * ```
 * DELETE /v1/:ds/entities/:entity_id {"email": "owner@example.com"} → 202
 * ```
 */
export const OWNER_OPERATIONS: readonly Operation[] = [
  optOut('DELETE', 'optout', ''),
  optOut('POST', 'optout_post', ' The same as DELETE, for clients whose DELETE has no body.'),
  claim,
  verify,
  update,
  entity_report,
];
