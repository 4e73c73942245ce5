// POST /v1/{ds}/entities/{entity_id}/reports: a reader reports a mistake; from a program, or from the form of
// the record's page.
import { z } from 'zod';
import { allowedAttribute, ENTITY_ID } from '../../../data/input/rows.ts';
import type { KeepAnswer } from '../../../data/model/accounts.ts';
import { DataError } from '../../../data/model/errors.ts';
import { type Operation, operation } from '../../contract/operation.ts';
import { receivedPage, refusedReportPage } from '../../pages/report.ts';
import { type About, aboutDataset, releaseOf } from '../common/about.ts';
import { bodyInput, memberList, serviceOf } from '../common/account.ts';
import { ABOUT_OUTPUT } from '../common/outputs.ts';

const NUL = '\0';
const Report = z.object({
  attribute: z.string().max(200).nullish().describe('The wrong attribute; absent: the record as a whole'),
  message: z
    .string()
    .trim()
    .min(1)
    .max(1_000)
    .refine((text) => !text.includes(NUL), 'must not contain a NUL character')
    .describe('What is wrong, and how you know'),
  contact: z.email().max(254).nullish().describe('E-mail address for questions'),
});

type Received = { status: 'received'; id: string } & About;
interface ReportInput extends z.infer<typeof Report> {
  entity_id: string;
}

const { parse } = bodyInput(Report, { message: 'The runway is 3,000 ft long, see https://…' });

export const entity_report: Operation = operation<ReportInput, Received>({
  name: 'entity_report',
  title: 'Report a mistake',
  description: 'Sends a mistake in a record to the operators. Free, without a key; 10 a day from one address.',
  rest: {
    method: 'POST',
    path: '/v1/:ds/entities/:entity_id/reports',
    personal: true,
    entity: true,
    form: true,
    html: { print: ({ id }, ctx) => receivedPage(ctx.base_url, releaseOf(ctx).pack, id), failure: refusedReportPage },
  },
  charge: { access: 'free' },
  docs: { group: 'owners', statuses: [202], errors: ['invalid_parameter'] },
  formats: ['json', 'markdown'],
  input: () => Report.extend({ entity_id: ENTITY_ID.schema!(null) }),
  parse: ({ entity_id, ...raw }, ctx) => {
    const report = parse(raw, ctx);
    if (report.attribute) allowedAttribute(releaseOf(ctx).pack, 'attribute', report.attribute);
    return { ...report, entity_id: String(entity_id) };
  },
  output: () =>
    z.object({ status: z.literal('received'), id: z.string().describe('Id of the report'), ...ABOUT_OUTPUT }),
  async run({ entity_id, attribute = null, message, contact = null }, ctx) {
    const release = releaseOf(ctx);
    const { owners, requester, keepAnswer } = serviceOf(ctx);
    if (!owners) throw new DataError('unavailable', 'This service receives no reports.');
    const about = aboutDataset(release.pack, ctx.base_url);
    const answer = (id: string) => ({ status: 202 as const, body: { status: 'received' as const, id, ...about } });
    const report = { entity_id, attribute, message, contact };
    const keep: KeepAnswer<string> = async (db, id) => keepAnswer?.(db, answer(id));
    return answer(await owners.report(release, report, requester, keep));
  },
  markdown: (body) => memberList('Report', body),
});
