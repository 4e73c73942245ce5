// Replaces the figures and runs of the status page, which are from the time of the build, by those of now.
import { printAge, printDate, printNumber, printShare } from '../../api/render/print.ts';
import { incidentText, runBars } from '../../api/render/run-history.ts';
import type { RunHistory } from '../../data/releases/runs.ts';
import { createElement } from '../lib/dom.ts';

interface Status {
  records: number;
  facts: number;
  median_age_hours: number | null;
  within_sla: number | null;
  last_collection: string;
  runs: RunHistory;
}

function show(section: HTMLElement, status: Status): void {
  const { records, facts, median_age_hours, within_sla, last_collection, runs } = status;
  const figures: Record<string, string> = {
    records: printNumber(records),
    facts: printNumber(facts),
    median_age_hours: median_age_hours === null ? 'unknown' : printAge(median_age_hours),
    within_sla: within_sla === null ? 'unknown' : printShare(within_sla),
    last_collection: printDate(last_collection),
  };
  for (const cell of section.querySelectorAll<HTMLElement>('[data-figure]'))
    cell.textContent = figures[cell.dataset['figure'] ?? ''] ?? '';
  section.querySelector('.run-history')!.innerHTML = runBars(runs, Date.now());
  section.querySelector('.incidents')!.replaceChildren(
    ...runs.incidents.map((incident) => {
      const day = createElement('time', { dateTime: incident.from }, printDate(incident.from));
      return createElement('li', {}, day, ` ${incidentText(incident)}`);
    }),
  );
  section.querySelector<HTMLElement>('.no-incidents')!.hidden = runs.incidents.length > 0;
}

for (const section of document.querySelectorAll<HTMLElement>('[data-status]')) {
  const response = await fetch(section.dataset['status']!, { signal: AbortSignal.timeout(10_000) }).catch(() => null);
  // The figures of the build stay.
  if (response?.ok) show(section, (await response.json()) as Status);
}
