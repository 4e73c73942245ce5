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
