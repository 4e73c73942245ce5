// Child keys of the calling key: POST and GET /v1/keys/me/children, PATCH and DELETE of one (contract section 9,
// "Budgets").
import { z } from 'zod';
import type { ChildAccount, ChildChange } from '../../../data/model/accounts.ts';
import { validationError } from '../../../data/model/errors.ts';
import type { RawInput } from '../../../data/plan/plan.ts';
import { eur } from '../../../packs/define/money.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { blocks, table } from '../../render/markdown.ts';
import type { About } from '../common/about.ts';
import {
  about,
  bodyInput,
  euros,
  isoMilliseconds,
  KEY_OPERATION,
  memberList,
  microsOf,
  serviceOf,
} from '../common/account.ts';
import { inputOf, NO_PARAMETERS } from '../common/inputs.ts';
import { ABOUT_OUTPUT, euro, time } from '../common/outputs.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const names = z.array(z.string().min(1).max(100)).min(1).max(100).nullable();

const Bounds = {
  name: z.string().trim().min(1).max(100).describe('Name of the child key, for its owner'),
  cap_eur: euros(0, 1_000_000).nullable().describe('Most that it may spend in its life; null: no cap'),
  per_day_eur: euros(0, 1_000_000).nullable().describe('Most that it may spend in a day (UTC); null: no limit'),
  datasets: names.describe('Datasets that it may pay for; null: all'),
  operations: names.describe('Operations that it may pay for; null: all'),
  expires_at: z.iso.datetime({ offset: true }).nullable().describe('When it ends; null: with its parent'),
};
const { name, ...bounds } = Bounds;
const New = z.strictObject({ name, ...z.object(bounds).partial().shape });
const Change = z.strictObject(Bounds).partial();
type Body = z.infer<typeof Change>;

/** The members of a body as the store has them; names of datasets and operations must exist. */
function changeOf(body: Body, { now, register }: Context): ChildChange {
  const { name: label, cap_eur, per_day_eur, expires_at, datasets, operations } = body;
  const refuse = (member: string, msg: string): never => {
    throw validationError(member, msg, 'value_error');
  };
  const unknown = datasets?.find((id) => !register.releases.some(({ pack }) => pack.id === id));
  if (unknown !== undefined) refuse('datasets', `there is no dataset "${unknown}"`);
  const missing = operations?.find((id) => !register.operations.some((candidate) => candidate.name === id));
  if (missing !== undefined) refuse('operations', `there is no operation "${missing}"`);
  const end = expires_at == null ? expires_at : Date.parse(expires_at);
  if (end != null && end <= now.getTime()) refuse('expires_at', 'must be in the future');
  const micros = (amount: number | null) => (amount === null ? null : microsOf(amount));
  return {
    ...(label === undefined ? {} : { name: label }),
    ...(cap_eur === undefined ? {} : { cap: micros(cap_eur) }),
    ...(per_day_eur === undefined ? {} : { per_day: micros(per_day_eur) }),
    ...(end === undefined ? {} : { expires_at: end }),
    ...(datasets === undefined ? {} : { datasets }),
    ...(operations === undefined ? {} : { operations }),
  };
}

/** A child key as its owner sees it. */
function childMembers(child: ChildAccount) {
  const amount = (micros: number | null) => (micros === null ? null : eur(micros));
  return {
    id: child.id,
    name: child.name,
    cap_eur: amount(child.cap),
    per_day_eur: amount(child.per_day),
    datasets: child.datasets,
    operations: child.operations,
    expires_at: child.expires_at === null ? null : isoMilliseconds(child.expires_at),
    created_at: isoMilliseconds(child.created_at),
    spent_eur: eur(child.spent),
    spent_today_eur: eur(child.spent_today),
  };
}
type Child = ReturnType<typeof childMembers>;

const CHILD_OUTPUT = {
  id: z.uuid(),
  ...Bounds,
  name: z.string(),
  created_at: time('Creation'),
  spent_eur: euro('Spent in its life'),
  spent_today_eur: euro('Spent today (UTC)'),
};

const shared = {
  ...KEY_OPERATION,
  charge: { ...KEY_OPERATION.charge, access: 'key' },
} as const;
const PATH = '/v1/keys/me/children';

const created = bodyInput(New, { name: 'research agent', cap_eur: 5 });

export const keys_child_create = operation<z.infer<typeof New>, Child & { key: string } & About>({
  name: 'keys_child_create',
  title: 'Create a child key',
  description:
    'Creates a key that spends the balance of the calling key within bounds: a cap, a limit a day, datasets, operations, an end. It shares rate limit and plan, and manages no keys. The secret is shown only once.',
  ...shared,
  rest: { ...KEY_OPERATION.rest, method: 'POST', path: PATH },
  docs: { ...KEY_OPERATION.docs, statuses: [201] },
  ...created,
  output: () => z.object({ ...CHILD_OUTPUT, key: z.string().describe('The secret, shown only once'), ...ABOUT_OUTPUT }),
  async run(body, ctx) {
    const { accounts, requester, keepAnswer } = serviceOf(ctx);
    const change = {
      cap: null,
      per_day: null,
      datasets: null,
      operations: null,
      expires_at: null,
      ...changeOf(body, ctx),
    };
    const answer = ({ secret, child }: { secret: string; child: ChildAccount }) => ({
      status: 201 as const,
      body: { ...childMembers(child), key: secret, ...about(ctx) },
    });
    const row = { ...change, name: body.name };
    return answer(await accounts.createChild(row, requester, async (db, child) => keepAnswer?.(db, answer(child))));
  },
  markdown: (body) => memberList('Your child key, shown only once', body),
});

export const keys_children = operation<object, { children: Child[] } & About>({
  name: 'keys_children',
  title: 'List child keys',
  description: 'The child keys of the calling key with their bounds and spending, oldest first.',
  ...shared,
  rest: { ...KEY_OPERATION.rest, method: 'GET', path: PATH },
  ...inputOf(NO_PARAMETERS),
  output: () => z.object({ children: z.array(z.object(CHILD_OUTPUT)), ...ABOUT_OUTPUT }),
  async run(_, ctx) {
    const { accounts, requester } = serviceOf(ctx);
    const children = await accounts.children(requester);
    return { body: { children: children.map(childMembers), ...about(ctx) } };
  },
  markdown: ({ children, attribution, license }) =>
    blocks(
      '# Child keys',
      table(
        ['name', 'spent EUR', 'today', 'cap', 'a day', 'expires', 'id'],
        children.map((child) => [
          ...[child.name, child.spent_eur, child.spent_today_eur, child.cap_eur ?? '', child.per_day_eur ?? ''],
          ...[child.expires_at ?? '', child.id],
        ]),
      ),
      `${attribution} ${license}`,
    ),
});

/** The id of the child key in the path, and the rest of the input. */
function childId({ child_id, ...raw }: RawInput): [string, RawInput] {
  const id = String(child_id);
  if (!UUID.test(id)) throw validationError('child_id', 'must be a UUID', 'uuid_parsing');
  return [id, raw];
}

const changed = bodyInput(Change, { cap_eur: 10 });
const ChildId = z.object({ child_id: z.uuid().describe('Id of the child key') });

export const keys_child_change = operation<Body & { child_id: string }, Child & About>({
  name: 'keys_child_change',
  title: 'Change a child key',
  description:
    'Changes the name or the bounds of a child key; what the body leaves out stays. It takes effect at once.',
  ...shared,
  rest: { ...KEY_OPERATION.rest, method: 'PATCH', path: `${PATH}/:child_id` },
  docs: { ...KEY_OPERATION.docs, errors: ['not_found'] },
  input: () => Change.extend(ChildId.shape),
  parse(raw, ctx) {
    const [child_id, rest] = childId(raw);
    return { child_id, ...changed.parse(rest, ctx) };
  },
  output: () => z.object({ ...CHILD_OUTPUT, ...ABOUT_OUTPUT }),
  async run({ child_id, ...body }, ctx) {
    const { accounts, requester, keepAnswer } = serviceOf(ctx);
    const answer = (child: ChildAccount) => ({ body: { ...childMembers(child), ...about(ctx) } });
    const change = changeOf(body, ctx);
    return answer(
      await accounts.changeChild(child_id, change, requester, async (db, child) => keepAnswer?.(db, answer(child))),
    );
  },
  markdown: (body) => memberList('Child key', body),
});

export const keys_child_revoke = operation<{ child_id: string }, { id: string; revoked: true } & About>({
  name: 'keys_child_revoke',
  title: 'Revoke a child key',
  description: 'Revokes a child key at once and permanently.',
  ...shared,
  rest: { ...KEY_OPERATION.rest, method: 'DELETE', path: `${PATH}/:child_id` },
  docs: { ...KEY_OPERATION.docs, errors: ['not_found'] },
  input: () => ChildId,
  parse: (raw) => ({ child_id: childId(raw)[0] }),
  output: () => z.object({ id: z.uuid(), revoked: z.literal(true), ...ABOUT_OUTPUT }),
  async run({ child_id: id }, ctx) {
    const { accounts, requester } = serviceOf(ctx);
    await accounts.changeChild(id, 'revoke', requester);
    return { body: { id, revoked: true as const, ...about(ctx) } };
  },
  markdown: (body) => memberList('Revoked', body),
});
