// What is asked of the scripted agent: a sentence, and the same in parts, as a reader of the sentence would take it in.

/** A field of the dataset, in what relation, to what: `country`, `is`, `KE`. */
export interface Condition {
  field: string;
  relation: 'is' | 'is neither' | 'contains' | 'is at least' | 'is at most' | 'is known' | 'lies within';
  value: string;
}

export interface Question {
  id: string;
  text: string;
  /** Words of the sentence that say what kind of answer is wanted. */
  wants: string[];
  /** What is to be read off the answer, by name. */
  read: string[];
  /** Fields that the answer is about. */
  fields: string[];
  where: Condition[];
  /** Each of several records, where the question is about more than one by name. */
  subjects?: Condition[][];
  order?: { field: string; highest: boolean };
  group?: { field: string; value: string };
  /** Rows wanted; 1 where nothing is said. */
  n?: number;
  /** What is true, computed from the release: for each row, what is read. */
  truth: string[][];
}
