// The nightly runs of the last days as bars and sentences: for the status page, its script and its feed.
import type { Incident, RunHistory } from '../../data/releases/runs.ts';
import { plural, printDate } from './print.ts';

/** Days of the bars. */
export const HISTORY_DAYS = 90;

const DAY = 86_400_000;

const HAPPENED: Record<Incident['outcome'], string> = {
  refused: 'the new data did not pass our checks, so the release before it stayed',
  failed: 'the run stopped before it was complete, so the release before it stayed',
};

/** What happened: `Not updated in 2 nightly runs: …. Solved on Nov 22, 2026.` */
export function incidentText({ outcome, runs, solved }: Incident): string {
  const end = solved === null ? 'Not solved yet.' : `Solved on ${printDate(solved)}.`;
  return `Not updated in ${plural(runs, 'nightly run')}: ${HAPPENED[outcome]}. ${end}`;
}

/** The days as bars of an SVG image, from the oldest to that of `end`. It has dates only, so nothing to escape. */
export function runBars({ since, incidents }: RunHistory, end: string | number): string {
  const last = Math.floor(new Date(end).getTime() / DAY);
  const bars = Array.from({ length: HISTORY_DAYS }, (_, i) => {
    const date = new Date((last - HISTORY_DAYS + 1 + i) * DAY).toISOString().slice(0, 10);
    const incident = incidents.find(({ from, solved }) => from <= date && (solved === null || date < solved));
    const state = since === null || date < since ? 'none' : incident === undefined ? 'good' : 'bad';
    const words = { none: 'no run recorded', good: 'updated on schedule', bad: `run ${incident?.outcome}` }[state];
    return `<rect class="${state}" x="${i * 4}" width="3" height="28"><title>${printDate(date)}: ${words}</title></rect>`;
  });
  const bad = plural(incidents.length, 'incident');
  return `<svg class="run-bars" viewBox="0 0 ${HISTORY_DAYS * 4 - 1} 28" preserveAspectRatio="none" role="img" aria-label="Nightly runs of the last ${HISTORY_DAYS} days: ${bad}">${bars.join('')}</svg>`;
}
