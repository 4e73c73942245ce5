// What earlier runs know of a dataset's records: names given, and what each source last said.
import { join } from 'node:path';
import { type Duck, fromParquet, quoted } from '../../data/duckdb/duck.ts';
import { kept, NULL, readLines } from '../../data/duckdb/lines.ts';
import { FACT_COLUMNS, listRuns, OWN, type ReadingRow, standingFacts } from '../../data/write/facts.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Known } from './observe.ts';
import type { SourcePlan } from './plan.ts';
import { Account, hash53, Records } from './state.ts';

/** Loads what the sources to be read said last; a source whose account begins anew has said nothing. */
export async function recall(
  duck: Duck,
  dataDir: string,
  pack: Pack,
  made: readonly ReadingRow[],
  plans: readonly SourcePlan[],
  work: string,
): Promise<Known> {
  const accounts = new Map(pack.sources.map(({ id }) => [id, new Account(pack.attributes.length)]));
  const known: Known = { records: new Records(), named: new Set(), slugs: new Set(), accounts };
  const files = (await listRuns(dataDir, pack.id)).map(({ facts }) => facts);
  if (files.length === 0) return known;
  const facts = fromParquet(files, FACT_COLUMNS);
  const path = join(work, 'recalled');
  await duck.lines(`SELECT entity, value FROM ${facts} WHERE attribute = ${quoted(OWN.slug)} ORDER BY entity`, path);
  for (const line of readLines(path)) {
    const [id = '', slug = '""'] = line.split('\t');
    const entity = kept(id);
    known.records.number(entity);
    known.named.add(entity);
    known.slugs.add(JSON.parse(slug) as string);
  }
  const columns = new Map(pack.attributes.map(({ name }, i) => [name, i]));
  for (const { source, restart, readings } of plans) {
    if (restart || readings.length === 0) continue;
    const account = accounts.get(source)!;
    const last =
      `SELECT entity, attribute, value FROM ${facts} WHERE source = ${quoted(source)} AND source_kind = 'collector' ` +
      `AND ${standingFacts(made)} AND attribute NOT IN (${quoted(OWN.slug)}, ${quoted(OWN.identity)}) ` +
      'QUALIFY row_number() OVER (PARTITION BY entity, attribute ORDER BY observed_at DESC, run DESC) = 1';
    await duck.lines(last, path);
    for (const line of readLines(path)) {
      const [entity = '', attribute = '', text = NULL] = line.split('\t');
      const record = known.records.number(entity);
      if (attribute === OWN.listed) account.restoreListed(record, text === 'true');
      const column = columns.get(attribute);
      if (column !== undefined && text !== NULL) account.restore(record, column, hash53(text));
    }
  }
  return known;
}
