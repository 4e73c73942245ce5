// GET /v1/{ds}/entities/{entity_id}/audit.md: what is visible of a record to whom, how old it is, and why the rest is missing; free.
import { z } from 'zod';
import { parseFormat } from '../../../data/input/parse-history.ts';
import { shown } from '../../../data/input/parse-values.ts';
import { DataError } from '../../../data/model/errors.ts';
import type { RawInput } from '../../../data/plan/plan.ts';
import { audit } from '../../../data/queries/audit.ts';
import { present } from '../../../data/queries/present.ts';
import { operation } from '../../contract/operation.ts';
import { auditPage } from '../../pages/audit-page.ts';
import { releaseOf, releaseTime } from '../common/about.ts';
import { ENTITY_INPUT } from '../common/inputs.ts';

export const entity_audit = operation<RawInput, { text: string }>({
  name: 'entity_audit',
  title: 'Visibility audit of a record',
  description:
    'Attribute by attribute: who sees it, how old it is against its limit, where it comes from, what is in review and why it is missing. Free, Markdown, without values.',
  route: { method: 'GET', path: '/v1/:ds/entities/:entity_id/audit.md' },
  group: 'records',
  access: 'free',
  formats: ['markdown'],
  long: { part: 'text', more: 'dataset_schema lists all attributes of the dataset.' },
  entity: true,
  input: () => z.object(ENTITY_INPUT),
  parse: (raw) => {
    parseFormat(raw, ['md'], { path: ['ds', 'entity_id'] });
    return raw;
  },
  run: async (raw, ctx) => {
    const release = releaseOf(ctx);
    const { engine, pack } = release;
    const ref = String(raw['entity_id']);
    const asking = { signal: ctx.signal };
    const [ordinal] = await engine.resolve([ref.toLowerCase()], asking);
    if (ordinal === null || ordinal === undefined)
      throw new DataError('unknown_entity', `${pack.id} has no record "${shown(ref)}".`);
    const [stored] = await engine.bodies([ordinal], asking);
    // Whoever asks, every attribute is looked at; what they are told of it is the same for all.
    const { now, base_url } = ctx;
    const record = present(stored?.body ?? '', pack, { now, base_url, visibility: 'full' });
    const audited = await audit(release, record, ordinal, asking);
    const text = auditPage(record, audited, pack, release.manifest.release);
    return { body: { text }, last_modified: releaseTime(release) };
  },
  markdown: ({ text }) => text,
});
