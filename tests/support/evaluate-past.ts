// The independent evaluator of history: from the statements of sources, by plain loops, what was published
// when. Shares nothing with the service.
import type { Issues } from './night-pack.ts';

type Json = unknown;

/** One statement of a source on an attribute of a record; undefined: a withdrawal. */
export interface PastStatement {
  source: string;
  at: string;
  value: Json;
  confidence: number;
}

export interface PublishedChange {
  code: string;
  attribute: string;
  type: 'added' | 'changed';
  old_value: Json;
  new_value: Json;
  observed_at: string;
}

/** Trust of each source, and whether an unlisted record is gone (tests/support/night-pack.ts). */
const TRUST: Record<string, number> = { gold: 0.9, tin: 0.8, rumour: 0.7 };
const LISTS = (source: string) => source !== 'rumour';
const FLOOR = 0.3;
const JUMP = 10;
const ATTRIBUTES = ['code', 'name', 'status', 'seen', 'mass', 'tags', 'place', 'price.sale'];

const far = (a: number, b: number) => a / b > JUMP || a / b < 1 / JUMP;
const moment = (date: string) => `2026-${date}T00:00:00Z`;
const same = (a: Json, b: Json) => JSON.stringify(a) === JSON.stringify(b);

export class PastWorld {
  /** Statements by record and attribute, in order of time. */
  readonly said = new Map<string, PastStatement[]>();
  readonly codes = new Set<string>();
  /** By source: its readings, and by record when it began or ceased to list it. */
  readonly readings = new Map<string, string[]>();
  readonly #listed = new Map<string, { at: string; listed: boolean }[]>();

  constructor(issues: Record<string, Issues>) {
    for (const [source, readings] of Object.entries(issues)) {
      this.readings.set(source, Object.keys(readings).sort().map(moment));
      for (const date of Object.keys(readings).sort()) this.#read(source, moment(date), readings[date] as never);
    }
  }

  #read(source: string, at: string, told: { code: string; as?: { confidence: number } }[]): void {
    const seen = new Set(told.map(({ code }) => code));
    for (const { code, as, ...values } of told) {
      this.codes.add(code);
      this.#list(source, code, at, true);
      for (const attribute of ATTRIBUTES) {
        const value = attribute === 'code' ? code : (values as Record<string, Json>)[attribute];
        this.#say(code, attribute, { source, at, value, confidence: as?.confidence ?? TRUST[source]! });
      }
    }
    if (!LISTS(source)) return;
    for (const code of this.codes) {
      if (seen.has(code) || !this.#events(source, code).at(-1)?.listed) continue;
      this.#list(source, code, at, false);
      this.#say(code, 'status', { source, at, value: 'gone', confidence: 0.8 });
    }
  }

  #events(source: string, code: string) {
    const key = `${source} ${code}`;
    if (!this.#listed.has(key)) this.#listed.set(key, []);
    return this.#listed.get(key)!;
  }

  #list(source: string, code: string, at: string, listed: boolean): void {
    const events = this.#events(source, code);
    if (events.at(-1)?.listed !== listed) events.push({ at, listed });
  }

  /** Stores only changes: another value, or a withdrawal. An attribute with `once` is stored once. */
  #say(code: string, attribute: string, said: PastStatement): void {
    const all = this.words(code, attribute);
    const before = all.filter(({ source }) => source === said.source).at(-1);
    const nothing = before === undefined || before.value === undefined;
    if (said.value === undefined ? nothing || attribute === 'seen' : before && same(before.value, said.value)) return;
    if (attribute === 'seen' && before) return;
    all.push(said);
  }

  words(code: string, attribute: string): PastStatement[] {
    const key = `${code} ${attribute}`;
    if (!this.said.has(key)) this.said.set(key, []);
    return this.said.get(key)!;
  }

  #lists(source: string, code: string, at: string): boolean {
    return this.#events(source, code).findLast((event) => event.at <= at)?.listed ?? true;
  }

  /**
   * Whether a jump was confirmed at a moment: stated before, read again, or stated by another source while
   * the source kept it.
   */
  #confirmed(
    code: string,
    attribute: string,
    said: PastStatement,
    waiting: number | undefined,
    until: string,
  ): boolean {
    const value = said.value as number;
    if (waiting !== undefined && !far(value, waiting)) return true;
    const words = this.words(code, attribute);
    const end = words.find((one) => one.source === said.source && one.at > said.at)?.at ?? '9';
    const back = (at: string) => this.#lists(said.source, code, at) || !this.#lists(said.source, code, said.at);
    const again = this.readings.get(said.source)!.some((at) => at > said.at && at < end && at <= until && back(at));
    const other = Object.keys(TRUST).some((source) => {
      if (source === said.source) return false;
      const theirs = words.filter(
        (one) => one.source === source && (one.value === undefined || one.confidence >= FLOOR),
      );
      const standing = theirs.findLast((one) => one.at <= said.at);
      const close = (one: PastStatement | undefined) => one?.value !== undefined && !far(value, one.value as number);
      if (close(standing) && this.#lists(source, code, said.at)) return true;
      return theirs.some((one) => one.at > said.at && one.at <= end && one.at <= until && close(one));
    });
    return again || other;
  }

  /** The statement that was published at a moment, or undefined. */
  published(code: string, attribute: string, at: string): PastStatement | undefined {
    const standing: PastStatement[] = [];
    for (const source of Object.keys(TRUST)) {
      let accepted: PastStatement | undefined;
      let last: number | undefined;
      let waiting: number | undefined;
      for (const each of this.words(code, attribute).filter((one) => one.source === source && one.at <= at)) {
        if (each.value !== undefined && each.confidence < FLOOR) continue;
        if (each.value === undefined) waiting = undefined;
        if (attribute === 'seen' && accepted) continue;
        if (attribute === 'mass' && each.value !== undefined) {
          const now = each.value as number;
          if (last !== undefined && far(now, last) && !this.#confirmed(code, attribute, each, waiting, at)) {
            waiting = now;
            continue;
          }
          last = now;
          waiting = undefined;
        }
        accepted = each.value === undefined ? undefined : each;
      }
      if (accepted) standing.push(accepted);
    }
    const first = (a: PastStatement, b: PastStatement) =>
      a.at.localeCompare(b.at) || TRUST[b.source]! - TRUST[a.source]!;
    if (attribute === 'seen') return standing.sort(first)[0];
    const listing = standing.filter(({ source }) => this.#lists(source, code, at));
    const heard = standing.length > 1 && listing.length > 0 ? listing : standing;
    return heard.sort((a, b) => TRUST[b.source]! - TRUST[a.source]!)[0];
  }

  /** All values of a record at a moment; null where it had none. */
  record(code: string, at: string): Record<string, Json> | null {
    const values = ATTRIBUTES.flatMap((name) => {
      const found = this.published(code, name, at);
      return found ? [[name, found.value] as const] : [];
    });
    return values.length === 0 ? null : Object.fromEntries(values);
  }

  /**
   * The last reading in which a source confirmed its statement: before its next one, and while it listed the
   * record or after it had ceased to.
   */
  confirmed(code: string, attribute: string, said: PastStatement): string {
    const next = this.words(code, attribute).find((one) => one.source === said.source && one.at > said.at)?.at ?? '9';
    const left = this.#events(said.source, code).find((event) => !event.listed && event.at > said.at)?.at ?? '9';
    const back = (at: string) => this.#events(said.source, code).findLast((event) => event.at <= at)?.listed ?? true;
    const read = this.readings.get(said.source)!.filter((at) => at >= said.at && at < next);
    return read.findLast((at) => at < left || back(at))!;
  }

  /** Every change of a published value, newest first. */
  changes(): PublishedChange[] {
    const times = [...new Set([...this.readings.values()].flat())].sort();
    const found: PublishedChange[] = [];
    for (const code of this.codes)
      for (const attribute of ATTRIBUTES) {
        let old: Json;
        for (const at of times) {
          const value = this.published(code, attribute, at)?.value;
          if (same(old, value)) continue;
          const type = old === undefined ? 'added' : 'changed';
          found.push({ code, attribute, type, old_value: old, new_value: value, observed_at: at });
          old = value;
        }
      }
    return found.sort((a, b) => b.observed_at.localeCompare(a.observed_at));
  }
}
