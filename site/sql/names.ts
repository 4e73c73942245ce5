// Names in queries, and the interface that both editors implement.

/** A table or column for completion. */
export interface EditorTable {
  name: string;
  columns: { name: string; type: string; description: string }[];
}

export interface TextEditor {
  text: string;
  /** Replaces the selection. */
  insert(text: string): void;
  focus(): void;
}

/** A name in SQL: in quotes unless it is a plain word. */
export const sqlName = (name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name}"`);
