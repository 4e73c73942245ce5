// Times as they are answered.

const times = new Map<number, string>();

/** ISO 8601 in UTC with `Z`, without milliseconds where they are zero. */
export function isoTime(at: number): string {
  let text = times.get(at);
  if (text === undefined) {
    text = new Date(at).toISOString().replace('.000Z', 'Z');
    if (times.size < 10_000) times.set(at, text);
  }
  return text;
}
