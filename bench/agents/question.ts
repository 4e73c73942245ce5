// A question for the scripted agent: a sentence, and its parts as a reader would understand them.

/** A field, a relation and a value: `country`, `is`, `KE`. */
export interface QuestionCondition {
  field: string;
  relation: 'is' | 'is neither' | 'contains' | 'is at least' | 'is at most' | 'is known' | 'is within';
  value: string;
}

export interface AgentQuestion {
  id: string;
  text: string;
  /** Words of the sentence for the kind of answer. */
  wants: string[];
  /** Names to read from the answer. */
  read: string[];
  /** Fields of the answer. */
  fields: string[];
  where: QuestionCondition[];
  /** Several records, when the question has more than one name. */
  subjects?: QuestionCondition[][];
  order?: { field: string; highest: boolean };
  group?: { field: string; value: string };
  /** Number of rows; default 1. */
  n?: number;
  /** The correct answer from the release: the values of each row. */
  truth: string[][];
}
