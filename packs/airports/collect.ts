// Reads airport-data-js: every airport a version lists, under one code through all versions, doubtful values marked.
import { type CollectContext, defineCollector, type Observed, type Reading } from 'dataset-register/pack';
import { byCode } from './codes.ts';
import { doubts } from './doubt.ts';
import { readRows } from './rows.ts';
import { valuesOf } from './values.ts';

const PACKAGE = 'airport-data-js';
/** Codes are those of this version, whichever is read. */
const REFERENCE = '4.0.0';
/** The last version before counts of flights got into the elevations, and the version that holds most of them. */
const CLEAN = '2.0.0';
const MIXED = '3.0.1';

const SOURCE_URL = 'https://github.com/aashishvanand/airport-data-js';

async function* read(reading: Reading, context: CollectContext): AsyncGenerator<Observed> {
  const quiet = () => undefined;
  const of = async (version: string) => {
    const folder = reading.version === version ? reading.folder : await context.folder(PACKAGE, version);
    return readRows(folder, quiet);
  };
  const reference = await of(REFERENCE);
  const coded = async (version: string) => byCode(await of(version), reference, quiet);
  const rows = byCode(await readRows(reading.folder, context.log), reference, context.log);
  const clean = reading.version === CLEAN ? null : await coded(CLEAN);
  const mixed = reading.version === CLEAN || reading.version === MIXED ? null : await coded(MIXED);
  for (const [code, row] of rows) {
    const found = clean ? doubts(row, { clean: clean.get(code), mixed: mixed?.get(code) }) : {};
    const doubted = Object.entries(found);
    const evidence = `airport ${row.icao || row.iata}, version ${reading.version}`;
    yield {
      identity: { code },
      values: valuesOf(code, row),
      source_url: SOURCE_URL,
      evidence: {
        '*': evidence,
        ...Object.fromEntries(doubted.map(([name, { reason }]) => [name, `${evidence}: ${reason}`])),
      },
      ...(doubted.length > 0 && {
        confidence: Object.fromEntries(doubted.map(([name, { confidence }]) => [name, confidence])),
      }),
    };
  }
}

export default defineCollector({ read });
