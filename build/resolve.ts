// From facts to records: settles every record as of now and over time, scores it, and has the release written.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Decision, Ground, Question } from '../data/consolidate.ts';
import { course } from '../data/consolidate-history.ts';
import { confirmedAt } from '../data/consolidate-times.ts';
import { type ReadingRow, standingReadings } from '../data/facts.ts';
import type { Manifest } from '../data/layout.ts';
import { Draft, type Drafted } from '../data/write/draft.ts';
import { Duck } from '../data/write/duck.ts';
import { isoTime, type SettledValue } from '../data/write/record.ts';
import type { Attribute, Pack, Rule, Value } from '../packs/model.ts';
import { clean } from '../packs/schema.ts';
import type { Effects } from './effects.ts';
import { type Present, scoreRecord } from './quality.ts';
import { fits, type RecordFacts, readRecords, type StoredFact, sortFacts } from './resolve-facts.ts';
import { historyLines, reviewFacts } from './resolve-lines.ts';
import { Tally } from './resolve-tally.ts';

/** A review item that somebody decided. */
export interface Decided extends Decision {
  id: string;
  entity_id: string;
  attribute: string;
}

/** What a release is made from. */
export interface Making {
  pack: Pack;
  dataDir: string;
  /** Every reading ever made. */
  made: readonly ReadingRow[];
  /** Folder of the release before, or null. */
  before: string | null;
  decided: readonly Decided[];
  effects: Effects;
}

/** A release that lies in a workspace, complete but for its change feed and manifest. */
export interface Resolved extends Drafted, Pick<Manifest, 'enums' | 'ages' | 'confirmed' | 'facts'> {
  /** Folder of the release's files. */
  folder: string;
  /** Records left out because nothing of them may be published. */
  empty: number;
  /** Review items. */
  review: number;
}

const HOUR = 3_600_000;
const NONE: ReadonlyMap<string, Decision> = new Map();

/** Settles all facts of a dataset and writes the release's files into a workspace folder, which it clears first. */
export async function resolve(making: Making, workspace: string): Promise<Resolved> {
  const { pack, dataDir, made, before, effects } = making;
  const { progress } = effects;
  const draft = new Draft(pack, workspace);
  progress.step(pack.id, 'sort facts');
  const lines = join(workspace, 'lines', 'stored');
  const spill = join(workspace, 'spill-facts');
  await mkdir(spill, { recursive: true });
  const duck = await Duck.open(spill);
  let total: number;
  try {
    total = await sortFacts(duck, dataDir, pack.id, made, lines);
  } finally {
    duck.close();
  }
  progress.step(pack.id, 'consolidate');
  const settler = new Settler(making, draft);
  for (const facts of readRecords(lines)) {
    settler.settle(facts);
    if (draft.next % 500 === 0) progress.at(settler.read, total, 'facts');
  }
  settler.readings();
  const { review, facts } = draft.lineCounts;
  progress.step(pack.id, 'write release');
  const drafted = await draft.finish(before, effects.now().getTime(), (step) => progress.step(pack.id, step));
  return {
    ...drafted,
    ...settler.tally.told(pack),
    folder: draft.out,
    empty: settler.empty,
    review,
    facts,
    confirmed: settler.confirmed,
  };
}

class Settler {
  readonly tally = new Tally();
  /** Newest reading by source id. */
  readonly confirmed: Record<string, string> = {};
  empty = 0;
  read = 0;
  readonly #pack: Pack;
  readonly #draft: Draft;
  readonly #ground: Ground;
  readonly #standing: ReadingRow[];
  readonly #newest: number;
  readonly #identity: Set<string>;
  readonly #decided = new Map<string, Map<string, Decision>>();

  constructor({ pack, made, decided }: Making, draft: Draft) {
    this.#pack = pack;
    this.#draft = draft;
    this.#standing = standingReadings(made);
    const readings = new Map<string, number[]>();
    for (const { source, confirmed_at } of this.#standing) {
      const times = readings.get(source) ?? [];
      readings.set(
        source,
        [...times, confirmed_at].sort((a, b) => a - b),
      );
    }
    for (const [source, times] of readings) this.confirmed[source] = isoTime(times.at(-1)!);
    this.#newest = Math.max(0, ...this.#standing.map((row) => row.confirmed_at));
    this.#identity = new Set(pack.identity.attributes);
    const trust = new Map(pack.sources.map((source) => [source.id, source.trust]));
    this.#ground = { dataset: pack.id, consolidation: pack.consolidation, trust, readings };
    for (const each of decided) {
      const key = `${each.entity_id} ${each.attribute}`;
      this.#decided.set(key, (this.#decided.get(key) ?? new Map<string, Decision>()).set(each.id, each));
    }
  }

  /** Settles a record and adds it, its facts, its history and what is asked about it to the draft. */
  settle(record: RecordFacts): void {
    const { identity, slug } = record;
    if (identity === null || slug === null) throw new Error(`the facts of ${record.id} hold no identity`);
    const rule = this.#pack.consolidation.rule(identity);
    const values: (SettledValue | undefined)[] = new Array(this.#pack.attributes.length);
    const history: string[][] = [];
    let owner = false;
    for (let i = 0; i < this.#pack.attributes.length; i++) {
      const attribute = this.#pack.attributes[i]!;
      const facts = record.facts.get(attribute.name)?.filter((fact) => fits(attribute, fact.value));
      if (facts === undefined || facts.length === 0) continue;
      this.read += facts.length;
      values[i] = this.#attribute(record, attribute, facts, rule, history);
      owner ||= facts.some((fact) => fact.source_kind === 'owner');
    }
    for (const { source, listed, at } of record.listings) this.#draft.line('listings', [record.id, source, listed, at]);
    const number = this.#publish(record.id, identity, slug, values, owner);
    for (const cells of history) this.#draft.line('history', [number, record.id, ...cells]);
  }

  #attribute(
    record: RecordFacts,
    attribute: Attribute,
    facts: StoredFact[],
    rule: Rule,
    history: string[][],
  ): SettledValue | undefined {
    const question: Question = {
      entity: record.id,
      attribute,
      identity: this.#identity.has(attribute.name),
      statements: facts,
      listings: record.listings,
      rule,
      decisions: this.#decided.get(`${record.id} ${attribute.name}`) ?? NONE,
    };
    const { periods, now, disputes } = course(question, this.#ground);
    let settled: SettledValue | undefined;
    for (let position = 0; position < facts.length; position++) {
      const fact = facts[position]!;
      const confirmed = confirmedAt(question, this.#ground.readings, position, Number.POSITIVE_INFINITY);
      const won = position === now.winner;
      this.#draft.fact(fact.line, confirmed, won, now.reasons[position]!);
      if (!won) continue;
      const { json, source_url, evidence, source_kind } = fact;
      const value = fact.value as Value;
      settled = {
        value,
        json,
        source_url,
        evidence,
        kind: source_kind,
        observed_at: confirmed,
        confidence: now.confidence,
      };
    }
    history.push(...historyLines(attribute, facts, periods));
    for (const dispute of disputes) {
      const told = reviewFacts(
        record.id,
        dispute.statements.map((position) => facts[position]!),
      );
      this.#draft.line('review', [dispute.id, dispute.kind, record.id, attribute.name, told, dispute.opened_at]);
    }
    return settled;
  }

  /** Adds the record unless nothing of it is published; gives its number in the draft. */
  #publish(
    id: string,
    identity: NonNullable<RecordFacts['identity']>,
    slug: string,
    values: (SettledValue | undefined)[],
    owner: boolean,
  ): number | null {
    const present: Present[] = [];
    const named: Record<string, Value> = {};
    for (let i = 0; i < values.length; i++) {
      const settled = values[i];
      if (settled === undefined) continue;
      const attribute = this.#pack.attributes[i]!;
      const age = Math.max(0, (this.#newest - settled.observed_at) / HOUR);
      present.push({ attribute, confidence: settled.confidence, age });
      named[attribute.name] = settled.value;
      this.tally.add(attribute, settled);
    }
    if (present.length === 0) {
      this.empty++;
      return null;
    }
    const name = clean(this.#pack.identity.name(identity, named)) || slug;
    const { quality, completeness } = scoreRecord(this.#pack, present);
    const number = this.#draft.next;
    const told = JSON.stringify(identity);
    this.#draft.record({ id, slug, name, identity: told, values, quality, completeness, owner });
    return number;
  }

  /** Adds the readings that count. */
  readings(): void {
    for (const { source, package: pkg, version, confirmed_at, date_source } of this.#standing)
      this.#draft.line('readings', [source, pkg, version, confirmed_at, date_source]);
  }
}
