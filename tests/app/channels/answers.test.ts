// Every answer of every operation against the schema in the table of operations.
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { outputSchema } from '../../../api/render/json-schema.ts';
import { appOfAll } from '../../support/app.ts';
import { endingKeys, everyCall, type OperationCall, ownedParts } from '../../support/every-call.ts';
import { claimToken } from '../../support/owners-stage.ts';
import { schemaErrors, strictSchema } from '../../support/schemas.ts';

const app = await appOfAll({ nights: true });
const packs = ['harbours', 'tools'].map((dataset) => app.register.packs.get(dataset)!);
const slugs = Object.fromEntries(packs.map(({ id }) => [id, app.records[id]!.slice(0, 2).map(({ slug }) => slug)]));
const made = await app.json('/v1/keys', { method: 'POST', body: '{"email":"answers@example.org"}' });
const { id, key } = made.body as { id: string; key: string };
const token = await claimToken(app);
const asked: OperationCall[] = everyCall(packs, slugs, {
  id,
  key,
  token,
  ending: await endingKeys(app),
  parts: await ownedParts(app, key),
});

test('exactly the operations with JSON answers have a schema', () => {
  for (const { name, formats, output } of OPERATIONS)
    expect([name, output !== undefined]).toEqual([name, formats.includes('json')]);
});

test('every answer matches its schema, without undescribed members', async () => {
  const seen = new Set<string>();
  for (const { operation, dataset, name, path, init } of asked) {
    const schema = outputSchema(operation, dataset === null ? null : app.register.packs.get(dataset)!);
    if (schema === null) continue;
    const answer = await app.json(path, init);
    // A hosted checkout is not part of the test app.
    if (answer.status === 503 && /topup|subscribe|prepaid/.test(path)) continue;
    expect([name, answer.status, answer.body['message']]).toEqual([
      name,
      operation.docs.statuses?.[0] ?? 200,
      undefined,
    ]);
    expect(schemaErrors(strictSchema(schema) as object, answer.body), name).toEqual([]);
    expect(
      schemaErrors(strictSchema(outputSchema(operation, null)) as object, answer.body),
      `${name}, any dataset`,
    ).toEqual([]);
    seen.add(operation.name);
  }
  const silent = OPERATIONS.filter(({ name, output }) => output && !seen.has(name)).map(({ name }) => name);
  expect(silent).toEqual(['account_prepay', 'keys_topup', 'keys_subscribe']);
});

test('a schema rejects wrong answers', async () => {
  const status = OPERATIONS.find(({ name }) => name === 'dataset_status')!;
  const schema = strictSchema(outputSchema(status, null)) as object;
  const { body } = await app.json('/v1/tools/status');
  expect(schemaErrors(schema, body)).toEqual([]);
  expect(schemaErrors(schema, { ...body, records: 'many', more: 1 })).toHaveLength(2);
  const { records: _, ...less } = body;
  expect(schemaErrors(schema, less)).toHaveLength(1);
});
