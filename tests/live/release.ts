// The releases of the live suite, and their exported rows for the evaluator.
import { join, resolve } from 'node:path';
import { DuckDBInstance, LIST, listValue, VARCHAR } from '@duckdb/node-api';
import { openEngine } from '../../data/duckdb/engine.ts';
import { readLines } from '../../data/duckdb/lines.ts';
import { withIndex } from '../../data/index/indexed-engine.ts';
import { PackedIndex } from '../../data/index/packed-index.ts';
import { type Manifest, paths, RELEASE_FILES } from '../../data/model/layout.ts';
import { currentRelease, readManifest } from '../../data/model/manifest.ts';
import type { PublishedInterval, StoredRecord } from '../../data/model/record.ts';
import type { Engine } from '../../data/plan/plan.ts';
import { acceptKeys } from '../../data/releases/record-keys.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack, Value } from '../../packs/define/model.ts';
import { unpublishedTexts } from '../support/evaluate.ts';

/** The bundled packs, small to large. */
export const DATASETS = ['llm-models', 'airports', 'places'] as const;

/** The folder of tests/live/setup.ts. */
const dataDir = () => resolve(process.env['DATA_DIR'] ?? '');

export interface LiveRelease {
  pack: Pack;
  manifest: Manifest;
  folder: string;
  /**
   * As exported in records.jsonl, best first: the position is the ordinal. Provenance only with a status, to
   * save memory.
   */
  records: StoredRecord[];
  engines: { DuckDB: Engine; 'the packed index': Engine };
  close(): Promise<void>;
}

/** Opens a release twice, once for each engine. `log` is called when the index cannot be used. */
export async function openLive(dataset: string, log: (text: string) => void): Promise<LiveRelease> {
  const pack = await loadPack(resolve('packs', dataset));
  const release = await currentRelease(dataDir(), dataset);
  if (release === null) throw new Error(`${dataset} has no release in ${dataDir()}`);
  const folder = paths.release(dataDir(), dataset, release);
  const manifest = await readManifest(folder);
  const records: StoredRecord[] = [];
  for (const line of readLines(join(folder, RELEASE_FILES.jsonl))) {
    const { provenance, ...record } = JSON.parse(line) as StoredRecord;
    const marked = Object.entries(provenance).filter(([, { status }]) => status !== undefined);
    records.push({ ...record, provenance: Object.fromEntries(marked) });
  }
  await readUnpublished(folder, pack);
  const duckdb = await openEngine(folder, pack, manifest, { statement: 60_000 });
  const index = withIndex(duckdb, new PackedIndex(folder, pack, manifest), log);
  return {
    pack,
    manifest,
    folder,
    records,
    engines: { DuckDB: acceptKeys(duckdb, pack), 'the packed index': acceptKeys(index, pack) },
    close: () => index.close(),
  };
}

/**
 * Reads for the evaluator the list entries that are searched but not published: those of the winning facts.
 */
async function readUnpublished(folder: string, pack: Pack): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const file = join(folder, RELEASE_FILES.facts).replaceAll("'", "''");
  for (const { name, published_entries: limit, search_weight: weight, public: open } of pack.attributes) {
    if (limit === null) continue;
    const found = await connection.runAndReadAll(
      `SELECT entity, value FROM read_parquet('${file}') WHERE attribute = $1 AND won AND json_array_length(value) > ${limit}`,
      [name],
      [VARCHAR],
    );
    for (const [entity, value] of found.getRows())
      unpublishedTexts.set(String(entity), {
        texts: (JSON.parse(String(value)) as string[]).slice(limit),
        weight,
        open,
      });
  }
  instance.closeSync();
}

/** Published values of one attribute of some records over time, as the release exports them. */
export async function historyOf(
  folder: string,
  attribute: string,
  ids: readonly string[],
): Promise<PublishedInterval[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const file = join(folder, RELEASE_FILES.history).replaceAll("'", "''");
  const found = await connection.runAndReadAll(
    `SELECT entity, value, epoch_ms("from")::DOUBLE, epoch_ms("to")::DOUBLE FROM read_parquet('${file}') WHERE attribute = $1 AND list_contains($2, entity)`,
    [attribute, listValue([...ids])],
    [VARCHAR, LIST(VARCHAR)],
  );
  const rows = found.getRows() as [string, string | null, number, number | null][];
  instance.closeSync();
  return rows.map(([entity, value, from, to]) => ({
    entity,
    attribute,
    value: value === null ? null : (JSON.parse(value) as Value),
    from: new Date(from).toISOString(),
    to: to === null ? null : new Date(to).toISOString(),
    source_url: '',
  }));
}
