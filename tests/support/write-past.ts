// The history of given records as a release stores it, in its simplest form: one source stated each value
// once, and it still holds.
import { RELEASE_FILES } from '../../data/model/layout.ts';
import type { PublishedInterval, StoredRecord } from '../../data/model/record.ts';
import type { Pack } from '../../packs/define/model.ts';
import { historyRows } from './random-history.ts';

type Row = Record<string, unknown>;
export type PastFile = [file: string, columns: Record<string, string>, rows: Row[]];

/** Larger releases get no history: their tests do not need it, and writing it takes longest. */
const MOST = 200;

const FACTS = {
  ...{ entity: 'VARCHAR', attribute: 'VARCHAR', value: 'VARCHAR', source: 'VARCHAR', source_url: 'VARCHAR' },
  ...{ observed_at: 'TIMESTAMP', confidence: 'DOUBLE', evidence: 'VARCHAR', source_kind: 'VARCHAR', run: 'VARCHAR' },
  ...{ confirmed_at: 'TIMESTAMP', won: 'BOOLEAN', reason: 'VARCHAR', group_median: 'DOUBLE' },
};
const CHANGES = {
  ...{ entity_id: 'VARCHAR', slug: 'VARCHAR', name: 'VARCHAR', attribute: 'VARCHAR', type: 'VARCHAR' },
  ...{ old_value: 'VARCHAR', new_value: 'VARCHAR', observed_at: 'TIMESTAMP', source_url: 'VARCHAR' },
};
const REVIEW = {
  ...{ id: 'VARCHAR', kind: 'VARCHAR', entity_id: 'VARCHAR', attribute: 'VARCHAR' },
  ...{ facts: 'VARCHAR', opened_at: 'TIMESTAMP', confirmed_at: 'TIMESTAMP', group_median: 'DOUBLE' },
};
const READINGS = {
  ...{ source: 'VARCHAR', package: 'VARCHAR', version: 'VARCHAR', observed_at: 'TIMESTAMP', date_source: 'VARCHAR' },
};
const LISTINGS = { entity: 'VARCHAR', source: 'VARCHAR', listed: 'BOOLEAN', at: 'TIMESTAMP' };

const TIMES = { ord: 'UINTEGER', since: 'TIMESTAMP', until: 'TIMESTAMP' };

/** The states of records whose values came one after the other and have not changed. */
function momentRows(pack: Pack, records: readonly StoredRecord[], first: string): Row[] {
  return records.flatMap(({ provenance, updated_at, quality_score: quality }, ord) => {
    const known = Object.values(provenance).map(({ observed_at }) => observed_at);
    const times = [...new Set(known.length === 0 ? [first] : known)].sort();
    return times.map((since, i) => {
      const kept = pack.attributes.map(({ name }) => {
        const { observed_at } = provenance[name] ?? {};
        return [`${name}:kept`, known.length === 0 || (observed_at !== undefined && observed_at <= since)];
      });
      const state = { ord, since, until: times[i + 1] ?? null, updated: Date.parse(updated_at), quality };
      return { ...state, name_words: null, ...Object.fromEntries(kept) };
    });
  });
}

const by = (key: (row: Row) => string) => (a: Row, b: Row) => (key(a) < key(b) ? -1 : 1);

/** The changes of a history, as the changelog of a release has them. */
function changesOf(history: readonly PublishedInterval[], records: readonly StoredRecord[]): Row[] {
  return historyRows(history, records).map(({ ord, entity, attribute, value, old_value, from, source_url }) => {
    const { slug = null, name = null } = ord === null ? {} : records[Number(ord)]!;
    const type = old_value === null ? 'added' : 'changed';
    return {
      ord,
      entity_id: entity,
      slug,
      name,
      attribute,
      type,
      old_value,
      new_value: value,
      observed_at: from,
      source_url,
    };
  });
}

/**
 * The history files of a release for `records`, which are in the order of their ordinals
 * (data/model/layout.ts). With a history the changelog is made of it.
 */
export function pastFiles(
  pack: Pack,
  records: readonly StoredRecord[],
  history: readonly PublishedInterval[] = [],
): PastFile[] {
  const source = pack.sources[0]!.id;
  const values = (records.length > MOST ? [] : records).flatMap((record, ord) =>
    Object.entries(record.attributes).flatMap(([attribute, value]) => {
      // Tests of values only have no provenance.
      const told = record.provenance[attribute];
      return told === undefined ? [] : [{ record, ord, attribute, json: JSON.stringify(value), told }];
    }),
  );
  const facts = values.map(({ record, attribute, json, told }) => {
    const { source_url, observed_at, confidence, evidence } = told;
    const said = { entity: record.id, attribute, value: json, source, source_url, observed_at, confidence, evidence };
    const verdict = { confirmed_at: observed_at, won: true, reason: 'only_source' };
    return { ...said, source_kind: told.source.kind, run: '20261120T000000000Z-00000000', ...verdict };
  });
  const changes = values.map(({ record, ord, attribute, json, told: { observed_at, source_url } }) => {
    const { id: entity_id, slug, name } = record;
    const value = { type: 'added', old_value: null, new_value: json, observed_at, source_url };
    return { ord, entity_id, slug, name, attribute, ...value };
  });
  const times = [...new Set(facts.map(({ observed_at }) => observed_at))].sort();
  const newestFirst = by(({ observed_at, ord, entity_id, attribute }) => {
    const place = `${9e15 - Date.parse(String(observed_at))} ${String(ord ?? 9e8).padStart(9, '0')}`;
    return `${place} ${entity_id} ${attribute}`;
  });
  const latest = (history.length > 0 ? changesOf(history, records) : changes).sort(newestFirst);
  const feed = changes.sort(newestFirst).map((change, i) => ({
    recorded_at: `2026-11-19T23:59:59.${String(i).padStart(6, '0')}Z`,
    ...change,
  }));
  const first = times[0] ?? '2026-11-01T00:00:00Z';
  const kept = Object.fromEntries(pack.attributes.map(({ name }) => [`${name}:kept`, 'BOOLEAN']));
  const moments = { ...TIMES, updated: 'BIGINT', quality: 'DOUBLE', name_words: 'VARCHAR', ...kept };
  const flags = { public: 'BOOLEAN', compared: 'BOOLEAN', weight: 'UTINYINT', public_weight: 'UTINYINT' };
  return [
    [RELEASE_FILES.moments, moments, momentRows(pack, records, first)],
    [RELEASE_FILES.past_terms, { term: 'VARCHAR', ...TIMES, ...flags }, []],
    [RELEASE_FILES.facts, FACTS, facts.sort(by(({ entity, attribute }) => `${entity} ${attribute}`))],
    [
      RELEASE_FILES.listings,
      LISTINGS,
      records
        .map(({ id: entity }) => ({ entity, source, listed: true, at: first }))
        .sort(by(({ entity }) => `${entity}`)),
    ],
    [
      RELEASE_FILES.readings,
      READINGS,
      times.map((observed_at) => ({ source, package: source, version: '1.0.0', observed_at, date_source: 'pin' })),
    ],
    [RELEASE_FILES.review, REVIEW, []],
    [RELEASE_FILES.changelog, { ord: 'UINTEGER', ...CHANGES }, latest],
    [RELEASE_FILES.changes, { recorded_at: 'TIMESTAMP', ...CHANGES }, feed],
  ];
}
