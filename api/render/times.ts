// Times as short cells of Markdown tables.

/** `2026-03-01T08:00:12Z` as `2026-03-01 08:00`, and midnight as the day alone: seconds are in the JSON. */
export function minute(time: string): string {
  return time
    .slice(0, 16)
    .replace('T', ' ')
    .replace(/ 00:00$/, '');
}

/**
 * The line above an answer about a past moment, with an empty line after it; '' for an answer about today.
 */
export function asOfLine(as_of: string | undefined): string {
  return as_of === undefined
    ? ''
    : `As of ${as_of}, from what had been observed until then; ages count from there.\n\n`;
}
