// GET /v1/{ds}/entities/{entity_id}/audit.md: visibility and age of each attribute, and why others are
// missing; free.

import type { PublicRecord } from '../../../data/model/record.ts';
import { type AuditedAttribute, audit, type SourceStatus, tally } from '../../../data/queries/audit.ts';
import { unknownEntity } from '../../../data/queries/nearest.ts';
import { presentRecord } from '../../../data/queries/present.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { operation } from '../../contract/operation.ts';
import { blocks, escapeText, link, table } from '../../render/markdown.ts';
import { plural, printAge } from '../../render/print.ts';
import { minute } from '../../render/times.ts';
import { releaseOf, releaseTime } from '../common/about.ts';
import { entityParameters, inputOf } from '../common/inputs.ts';

export const entity_audit = operation<{ entity_id: string }, { text: string }>({
  name: 'entity_audit',
  title: 'Visibility audit of a record',
  description:
    'Attribute by attribute: visibility, age and age limit, source, open reviews, and why a value is missing. Free, Markdown, without values.',
  rest: { method: 'GET', path: '/v1/:ds/entities/:entity_id/audit.md', entity: true },
  charge: { access: 'free' },
  tool: { long: { part: 'text', more: 'dataset_schema lists all attributes of the dataset.' } },
  docs: { group: 'records' },
  formats: ['markdown'],
  ...inputOf(entityParameters('md')),
  run: async ({ entity_id }, ctx) => {
    const release = releaseOf(ctx);
    const { engine, pack } = release;
    const options = { signal: ctx.signal };
    const [ordinal] = await engine.resolve([entity_id.toLowerCase()], options);
    if (ordinal === null || ordinal === undefined) throw await unknownEntity(release, entity_id, options);
    const [stored] = await engine.bodies([ordinal], options);
    // The audit covers all attributes for every caller, and shows the same to all.
    const { now, base_url } = ctx;
    const record = presentRecord(stored?.body ?? '', pack, { now, base_url, visibility: 'full' });
    const audited = await audit(release, record, ordinal, options);
    const text = auditPage(record, audited, pack, release.manifest.release);
    return { body: { text }, last_modified: releaseTime(release) };
  },
  markdown: ({ text }) => text,
});

/** Titles of sources by id; a source that the pack no longer has keeps its id. */
const sourceTitle = (pack: Pack, id: string): string => pack.sources.find((source) => source.id === id)?.title ?? id;

/** Why the latest value of a source is not the published value, in a sentence. */
function reasonText({ source, kind, hasValue: present, lists, observed_at, reason }: SourceStatus, pack: Pack): string {
  const who = kind === 'owner' ? 'the owner' : sourceTitle(pack, source);
  const when = minute(observed_at);
  if (!present) return `${who} withdrew it on ${when}`;
  const { floor } = pack.consolidation;
  switch (reason) {
    case 'below_floor':
      return `the value from ${who} of ${when} is below the confidence floor of ${floor}`;
    case 'held':
      return `the value from ${who} of ${when} differs too much from the previous one or from its group; it is held until confirmed`;
    case 'rejected':
      return `the value from ${who} of ${when} was rejected in review`;
    case 'not_listed':
      return `${who} no longer lists the record`;
    case null:
      return `the value from ${who} of ${when} is not published${lists ? '' : ', and it no longer lists the record'}`;
    default:
      return `the value from ${who} of ${when} was not chosen: ${reason.replaceAll('_', ' ')}${lists ? '' : ', and it no longer lists the record'}`;
  }
}

/** The notes on an attribute other than visibility and age. */
function notes({ published, sourceStatuses: standings, openItems: doubts }: AuditedAttribute, pack: Pack): string {
  const parts: string[] = [];
  if (published === null) parts.push(...standings.map((standing) => reasonText(standing, pack)));
  else {
    const { owner, source } = published;
    if (owner) parts.push('set by the verified owner');
    else if (standings.some((standing) => standing.source === source && !standing.lists))
      parts.push(`${sourceTitle(pack, source)} no longer lists the record`);
    for (const standing of standings) {
      if (standing.source === source || standing.kind === 'owner') continue;
      if (standing.reason === null || standing.reason === 'later') continue;
      if (standing.reason === 'agreed') parts.push(`${sourceTitle(pack, standing.source)} agrees`);
      else if (standing.hasValue)
        parts.push(`${sourceTitle(pack, standing.source)} differs (${standing.reason.replaceAll('_', ' ')})`);
    }
  }
  for (const { kind, opened_at } of doubts)
    parts.push(
      kind !== 'conflict'
        ? `held since ${minute(opened_at)}: ${kind === 'jump' ? 'a new value is a jump' : 'a first value is far from its group'}`
        : `in review since ${minute(opened_at)}: sources differ`,
    );
  return parts.join('; ');
}

/** The audit as a page: the composition of the quality, one row for each attribute, and a legend. */
function auditPage(record: PublicRecord, audited: readonly AuditedAttribute[], pack: Pack, release: string): string {
  const sums = tally(audited);
  const silent = audited.filter(
    ({ published, sourceStatuses: standings }) => published === null && standings.length === 0,
  );
  const rows = audited.filter((one) => !silent.includes(one)).map((one) => row(one, pack));
  const counts = [
    `${plural(sums.public, 'value')} for everyone`,
    `${sums.paid} for paid calls only`,
    `${sums.owner} set by the owner`,
    `${sums.doubted} in review`,
    `${sums.stale} past the age limit`,
    `${sums.missing} of ${audited.length} attributes missing`,
  ];
  return blocks(
    `# Audit of ${escapeText(record.name)}`,
    `What is visible of ${link(record.slug, record.url).text} (${record.id}) in snapshot ${release}: ${counts.join(', ')}. Quality ${record.quality_score}, completeness ${record.completeness}. ${
      record.verified_owner ? 'Its owner is verified.' : 'No owner has claimed it.'
    }`,
    table(['attribute', 'visible to', 'state', 'age', 'limit', 'source', 'confidence', 'notes'], rows),
    silent.length > 0 &&
      `Never observed, because no source has a value: ${silent.map(({ attribute }) => escapeText(attribute.name)).join(', ')}.`,
    'Everyone: search previews, the public page, llms-full.txt. Paid calls: every answer of a paid call or a plan. fresh: younger than the age at which the dataset warns; ageing: older than that; stale: older than the limit. No value is shown here; whether sources differ or a value is held is shown for values that everyone sees.',
    `${escapeText(record.attribution)} License: ${escapeText(record.license)}`,
  );
}

function row(one: AuditedAttribute, pack: Pack): unknown[] {
  const { attribute, published } = one;
  const { name, sla, editable } = attribute;
  const note = [notes(one, pack), editable && published?.owner !== true && 'the owner may set it'].filter(Boolean);
  if (published === null) return [name, 'nobody', 'missing', '', printAge(sla.error), '', '', note.join('; ')];
  const { freshness, age, owner, source, confidence } = published;
  return [
    name,
    attribute.public ? 'everyone' : 'paid calls',
    freshness,
    printAge(age),
    printAge(sla.error),
    owner ? 'owner' : sourceTitle(pack, source),
    // It rises where sources agree.
    attribute.public ? confidence : '',
    note.join('; '),
  ];
}
