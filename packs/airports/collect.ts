// Reads airport-data-js: every airport a version lists, under one code through all versions, doubtful values marked.
import { type CollectContext, defineCollector, type Observed, type Reading } from 'dataset-register/pack';
import { byCode } from './codes.ts';
import { doubtsOfLater, doubtsOfSecond } from './doubt.ts';
import type { Verdict } from './elevation.ts';
import { type Row, readRows } from './rows.ts';
import { valuesOf } from './values.ts';

const PACKAGE = 'airport-data-js';
/** Codes are those of this version, whichever is read. */
const REFERENCE = '4.0.0';
/**
 * Each went wrong in its own way (elevation.ts); the first did not, and is a pin as their witness. It yields no records of its
 * own: the names in it are rougher than those of version 2, and a record's slug is made from the first name it is given.
 */
const [FIRST, SECOND, THIRD] = ['1.0.6', '2.0.0', '3.0.1'] as const;

const SOURCE_URL = 'https://github.com/aashishvanand/airport-data-js';

/** What is wrong with a row of the version that is read, told from the other versions. */
async function judge(
  version: string,
  coded: (version: string) => Promise<Map<string, Row>>,
): Promise<(code: string, row: Row) => Record<string, Verdict>> {
  const first = await coded(FIRST);
  if (version === SECOND) return (code, row) => doubtsOfSecond(row, first.get(code));
  const second = await coded(SECOND);
  const third = version === THIRD ? null : await coded(THIRD);
  return (code, row) =>
    doubtsOfLater(row, { first: first.get(code), second: second.get(code), third: third?.get(code) });
}

function observe(code: string, row: Row, version: string, verdicts: Record<string, Verdict>): Observed {
  const values = valuesOf(code, row);
  const evidence: Record<string, string> = { '*': `airport ${row.icao || row.iata}, version ${version}` };
  const confidence: Record<string, number> = {};
  for (const [name, verdict] of Object.entries(verdicts)) {
    evidence[name] = `${evidence['*']}: ${verdict.reason}`;
    if (verdict.value !== undefined) values[name] = verdict.value;
    if (verdict.confidence !== undefined) confidence[name] = verdict.confidence;
  }
  const doubted = Object.keys(confidence).length > 0;
  return { identity: { code }, values, source_url: SOURCE_URL, evidence, ...(doubted && { confidence }) };
}

async function* read(reading: Reading, context: CollectContext): AsyncGenerator<Observed> {
  const { version } = reading;
  if (version === FIRST) return;
  const quiet = () => undefined;
  const of = async (wanted: string) => {
    const folder = version === wanted ? reading.folder : await context.folder(PACKAGE, wanted);
    return readRows(folder, quiet);
  };
  const reference = await of(REFERENCE);
  const verdicts = await judge(version, async (wanted) => byCode(await of(wanted), reference, quiet));
  const rows = byCode(await readRows(reading.folder, context.log), reference, context.log);
  for (const [code, row] of rows) yield observe(code, row, version, verdicts(code, row));
}

export default defineCollector({ read });
