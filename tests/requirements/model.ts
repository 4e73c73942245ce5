// The type of a requirement, and how a section of the manifest is written.

export type State = 'planned' | 'done';

/** One table row or rule of the specification or the contract, in our words. */
export interface Requirement {
  id: string;
  text: string;
  /** Document and section: `spec 4`, `contract 2`. */
  from: string;
  /** `done` needs a test that cites the id (tests/structure/manifest.test.ts). */
  state: State;
}

interface Row {
  text: string;
  state: State;
}

/**
 * A requirement that no test covers yet. There is none at the moment; the next one written begins with it.
 * @public
 */
export function planned(text: string): Row {
  return { text, state: 'planned' };
}

/** A requirement that a test verifies. */
export function done(text: string): Row {
  return { text, state: 'done' };
}

export interface Section<Id extends string> {
  from: string;
  rows: Record<Id, Row>;
}

/** The rows of one section; the ids become the type that `verifies` takes. */
export function section<const Id extends string>(from: string, rows: Record<Id, Row>): Section<Id> {
  return { from, rows };
}
