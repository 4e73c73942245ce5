// A statement on one line, for expectations: its text and its bound values.
export const spellSql = ({ text, values }: { text: string; values: readonly unknown[] }): string =>
  `${text} -- ${JSON.stringify(values)}`;
