// Settles a range of a dataset's records, in this thread or, when there are many, in a new one: published values,
// history, quality and review items.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { fitsType } from '../../data/consolidate/compare.ts';
import { confirmedSource } from '../../data/consolidate/confirmed-source.ts';
import { type Unpublished, unpublishedEntries } from '../../data/consolidate/engine-values.ts';
import { type AttributeTimeline, timeline } from '../../data/consolidate/history.ts';
import { historyCells, itemStatements, reviewFacts } from '../../data/consolidate/history-rows.ts';
import { type ScoredValue, scoreRecord } from '../../data/consolidate/quality.ts';
import {
  type ConsolidationContext,
  type Decision,
  type SettlementInput,
  trustOfSources,
  versionsOf,
} from '../../data/consolidate/settle.ts';
import { recordStates, type SettledAttribute } from '../../data/consolidate/states.ts';
import { confirmedAt } from '../../data/consolidate/times.ts';
import type { OperatorDecision } from '../../data/plan/overlay.ts';
import { type ReadingRow, validReadings } from '../../data/write/facts.ts';
import { Part, type PartFiles } from '../../data/write/part.ts';
import type { SettledValue } from '../../data/write/record.ts';
import type { Names } from '../../data/write/tables.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Attribute, Identity, Pack, Rule, Value } from '../../packs/define/model.ts';
import { lineText } from '../../packs/define/text.ts';
import { type LineRange, type RecordFacts, readRecords, type StoredFact } from './facts.ts';
import type { GroupMedians } from './group-medians.ts';
import { ValueTally } from './tally.ts';

/** Input for settling records. */
interface SettleOptions {
  made: readonly ReadingRow[];
  decided: readonly OperatorDecision[];
  /** Opted-out records: the part contains nothing about them. */
  removed: ReadonlySet<string>;
}

const HOUR = 3_600_000;
const NONE: ReadonlyMap<string, Decision> = new Map();

type Values = (SettledValue | undefined)[];

/** Settles one record after the other. */
class Settler {
  readonly tally = new ValueTally();
  readonly #pack: Pack;
  readonly #part: Part;
  readonly #context: ConsolidationContext;
  /** Times of all readings, ascending. */
  readonly #readingTimes: number[];
  /** By attribute: whether it identifies the record. */
  readonly #identity: boolean[];
  readonly #decided = new Map<string, Map<string, Decision>>();
  readonly #removed: ReadonlySet<string>;

  constructor(pack: Pack, { made, decided, removed }: SettleOptions, part: Part) {
    this.#removed = removed;
    this.#pack = pack;
    this.#part = part;
    const standing = validReadings(made);
    const readings = new Map<string, number[]>();
    for (const { source, confirmed_at } of standing) {
      readings.set(
        source,
        [...(readings.get(source) ?? []), confirmed_at].sort((a, b) => a - b),
      );
    }
    this.#readingTimes = [...new Set(standing.map((row) => row.confirmed_at))].sort((a, b) => a - b);
    this.#identity = pack.attributes.map(({ name }) => pack.identity.attributes.includes(name));
    this.#context = {
      dataset: pack.id,
      consolidation: pack.consolidation,
      trust: trustOfSources(pack),
      readings,
      versions: versionsOf(standing.map(({ source, confirmed_at: at, version }) => ({ source, at, version }))),
    };
    for (const operatorDecision of decided) {
      const key = `${operatorDecision.entity} ${operatorDecision.attribute}`;
      this.#decided.set(
        key,
        (this.#decided.get(key) ?? new Map<string, Decision>()).set(operatorDecision.id, operatorDecision),
      );
    }
  }

  /**
   * Settles a record and adds its values, the verdicts on its facts, its history and its review items to the
   * part.
   */
  settle(record: RecordFacts): void {
    const { id, identity, slug } = record;
    if (this.#removed.has(id)) {
      this.#leaveOut(record);
      return;
    }
    if (identity === null || slug === null) throw new Error(`the facts of ${id} have no identity`);
    const rule = this.#pack.consolidation.rule(identity);
    const values: Values = new Array(this.#pack.attributes.length);
    const unpublished: Record<string, string[]> = {};
    const courses: SettledAttribute[] = [];
    let owner = false;
    for (const { attribute, facts } of record.groups) {
      if (attribute < 0) for (const _ of facts) this.#part.verdict(null);
      else values[attribute] = this.#settle(record, attribute, facts, rule, { unpublished, courses });
      owner ||= attribute >= 0 && facts.some((fact) => fact.source_kind === 'owner');
    }
    for (const { source, listed, at } of record.listings) this.#part.line('listings', [id, source, listed, at]);
    this.#publish({ id, identity, slug }, values, unpublished, owner, courses);
  }

  #leaveOut({ id, groups }: RecordFacts): void {
    for (const { facts } of groups) for (const _ of facts) this.#part.verdict(null);
    this.#part.record(id, null);
  }

  #settle(
    record: RecordFacts,
    number: number,
    stored: StoredFact[],
    rule: Rule,
    { unpublished, courses }: { unpublished: Record<string, string[]>; courses: SettledAttribute[] },
  ): SettledValue | undefined {
    const attribute = this.#pack.attributes[number]!;
    const facts = stored.every((fact) => fitsType(attribute, fact.value))
      ? stored
      : stored.filter((fact) => fitsType(attribute, fact.value));
    const input: SettlementInput = {
      entity: record.id,
      attribute,
      identity: this.#identity[number]!,
      statements: facts,
      listings: record.listings,
      rule,
      decisions: this.#decided.size === 0 ? NONE : (this.#decided.get(`${record.id} ${attribute.name}`) ?? NONE),
    };
    const course = timeline(input, this.#context);
    if (facts.length > 0) courses.push({ attribute, input: { ...input, statements: facts }, timeline: course });
    const { now, status } = course;
    let settled: SettledValue | undefined;
    let position = 0;
    for (const fact of stored) {
      if (fact !== facts[position]) {
        this.#part.verdict(null);
        continue;
      }
      const confirmed_at = confirmedAt(input, this.#context.readings, position, Number.POSITIVE_INFINITY);
      const won = position === now.winner;
      const { group_median = null } = fact;
      this.#part.verdict({ confirmed_at, won, reason: now.reasons[position]!, group_median });
      position++;
      if (!won) continue;
      const cut = unpublishedEntries(attribute, fact.value);
      const { source_url, evidence } = confirmedSource(this.#pack, fact, this.#context, confirmed_at);
      settled = {
        value: cut?.published ?? (fact.value as Value),
        json: cut === null ? fact.json : JSON.stringify(cut.published),
        source_url,
        evidence,
        kind: fact.source_kind,
        observed_at: confirmed_at,
        confidence: now.confidence,
        status,
      };
      if (cut !== null) unpublished[attribute.name] = cut.rest;
    }
    for (const cells of historyCells(attribute, facts, course.periods)) this.#part.history(number, cells);
    this.#review(record.id, attribute, facts, course);
    return settled;
  }

  /** Adds the open and the closed review items of an attribute. */
  #review(id: string, attribute: Attribute, facts: StoredFact[], { disputes, confirmed }: AttributeTimeline): void {
    for (const item of disputes) this.#item(id, attribute, facts, item, null);
    for (const item of confirmed) this.#item(id, attribute, facts, item, item.confirmed_at);
  }

  #item(
    entity: string,
    attribute: Attribute,
    facts: StoredFact[],
    { id, kind, statements, opened_at }: AttributeTimeline['disputes'][number],
    confirmed_at: number | null,
  ): void {
    const factsJson = reviewFacts(entity, attribute.name, itemStatements(facts, statements));
    const median = kind === 'outlier' ? (facts[statements[0]]!.group_median ?? null) : null;
    const cells = [id, kind, entity, attribute.name, factsJson, opened_at, confirmed_at, median];
    this.#part.review(cells, confirmed_at === null);
  }

  /** Adds the record unless it has no published value. */
  #publish(
    { id, identity, slug }: { id: string; identity: Identity; slug: string },
    values: Values,
    unpublished: Unpublished,
    owner: boolean,
    courses: SettledAttribute[],
  ): void {
    const newest = this.#readingTimes.at(-1) ?? 0;
    const present: ScoredValue[] = [];
    const named: Record<string, Value> = {};
    for (let i = 0; i < values.length; i++) {
      const settled = values[i];
      if (settled === undefined) continue;
      const attribute = this.#pack.attributes[i]!;
      const age = Math.max(0, (newest - settled.observed_at) / HOUR);
      present.push({ attribute, confidence: settled.confidence, age });
      named[attribute.name] = settled.value;
      this.tally.add(attribute, settled);
    }
    if (present.length === 0) {
      this.#part.record(id, null);
      return;
    }
    const name = lineText(this.#pack.identity.name(identity, named)) || slug;
    const { quality, completeness } = scoreRecord(this.#pack, present);
    const identityJson = JSON.stringify(identity);
    const record = { id, slug, name, identity: identityJson, values, quality, completeness, owner, unpublished };
    // In the order of the pack, in which the scores of records are summed.
    courses.sort((a, b) => this.#pack.attributes.indexOf(a.attribute) - this.#pack.attributes.indexOf(b.attribute));
    const states = recordStates(this.#pack, courses, this.#context, this.#readingTimes);
    this.#part.record(id, record, { identity, courses, states });
  }
}

/** Input for settling a range. */
export interface PartTask {
  range: LineRange;
  names: Names;
  medians: GroupMedians;
  made: readonly ReadingRow[];
  decided: readonly OperatorDecision[];
  /** Records that are opted out. */
  removed: ReadonlySet<string>;
  /** Folder for the lines of the part, and its number from 0. */
  folder: string;
  number: number;
}

export interface SettledPart {
  files: PartFiles;
  counts: ValueTally['counts'];
}

/** Facts between two progress updates. */
const OFTEN = 10_000;

/** Settles a range in this thread; `onProgress` receives the number of newly settled facts. */
export function settlePart(pack: Pack, task: PartTask, onProgress: (facts: number) => void): SettledPart {
  const part = new Part(pack, task.folder, task.number);
  const settler = new Settler(pack, task, part);
  let facts = 0;
  for (const record of readRecords(task.range, pack, task.names, task.medians)) {
    settler.settle(record);
    for (const group of record.groups) facts += group.facts.length;
    if (facts < OFTEN) continue;
    onProgress(facts);
    facts = 0;
  }
  return { files: part.close(), counts: settler.tally.counts };
}

interface Sent {
  folder: string;
  task: PartTask;
}

type Answer = { facts: number } | { settled: SettledPart };

/** Settles a range in a new thread, which loads the pack from its folder. */
export function settleApart(pack: Pack, task: PartTask, onProgress: (facts: number) => void): Promise<SettledPart> {
  const sent: Sent = { folder: pack.folder, task };
  const worker = new Worker(new URL(import.meta.url), { workerData: sent });
  return new Promise((resolve, reject) => {
    worker.on('message', (answer: Answer) => {
      if ('settled' in answer) resolve(answer.settled);
      else onProgress(answer.facts);
    });
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`a thread exited with ${code} before it finished`)));
  });
}

if (!isMainThread && parentPort !== null && (workerData as Partial<Sent> | null)?.task !== undefined) {
  const { folder, task } = workerData as Sent;
  const answer = (message: Answer) => parentPort?.postMessage(message);
  answer({ settled: settlePart(await loadPack(folder), task, (facts) => answer({ facts })) });
}
