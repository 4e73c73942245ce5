// The state of the console in the fragment of the URL, which browsers do not send to servers.
import { CHART_KINDS, type ChartChoice, type ChartKind } from './chart.ts';

export interface ConsoleState {
  sql: string;
  /** The chart shown above the result; null: none. */
  chart: ChartChoice | null;
}

/** The state in a fragment; null when it has no query. */
export function readConsole(hash: string): ConsoleState | null {
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  const sql = query.get('q');
  if (sql === null) return null;
  const [kind, x, y, color] = ['chart', 'x', 'y', 'color'].map((name) => query.get(name) ?? '');
  const isKind = (CHART_KINDS as readonly string[]).includes(kind!);
  return { sql, chart: isKind ? { kind: kind as ChartKind, x: x!, y: y!, color: color! } : null };
}

/** The fragment for a state. */
export function consoleFragment({ sql, chart }: ConsoleState): string {
  const query = new URLSearchParams({ q: sql });
  if (chart !== null) {
    query.set('chart', chart.kind);
    for (const name of ['x', 'y', 'color'] as const) if (chart[name] !== '') query.set(name, chart[name]);
  }
  return `#${query}`;
}
