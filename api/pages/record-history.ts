// Step charts of the public numbers of a record: inline SVG for three ranges, switched by radio buttons and
// CSS alone. Each step links to its source.
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { printDate, printNumber, printWithUnit, webAddress } from '../render/print.ts';
import { type Html, html } from './html.ts';
import { stepTable } from './record-values.ts';
import type { RelatedData, Step } from './related-data.ts';

const DAY = 86_400_000;
/** Ranges of a chart, in days before its end; Infinity: from the first value. */
const RANGES = [
  { id: 'month', name: '30 days', days: 30 },
  { id: 'year', name: '1 year', days: 365 },
  { id: 'all', name: 'All', days: Infinity },
] as const;

/** A number that was valid from a time on (milliseconds since 1970); null: none. */
interface Point {
  at: number;
  value: number | null;
  source_url?: string | undefined;
}

/** The number of a value; a price range counts with its minimum. */
function numberOf(value: Value | null): number | null {
  if (typeof value === 'number') return value;
  return value !== null && typeof value === 'object' && 'min' in value ? value.min : null;
}

/** The section of charts, and of numbers that never changed; nothing without either. */
export function historySection(pack: Pack, { history }: RelatedData, checked: Readonly<Record<string, string>>): Html {
  const numbers = pack.attributes.filter(({ name, type }) => NUMERIC.includes(type) && checked[name] !== undefined);
  const drawn: Html[] = [];
  const constant: Html[] = [];
  for (const attribute of numbers) {
    const { name, unit } = attribute;
    const steps = history[name] ?? [];
    const [first] = steps;
    if (first === undefined) continue;
    const values = new Set(steps.map(({ value }) => JSON.stringify(value)));
    if (values.size > 1) drawn.push(chart(attribute, steps, Date.parse(checked[name]!)));
    else if (first.value !== null)
      constant.push(
        html`<li><code>${name}</code> ${printWithUnit(first.value, unit)}, unchanged since <time datetime="${first.at}">${printDate(first.at)}</time></li>`,
      );
  }
  if (drawn.length + constant.length === 0) return html``;
  const ranges = html`<fieldset class="ranges"><legend class="away">Range of the charts</legend>${RANGES.map(({ id, name }) => html`<label><input type="radio" name="range" value="${id}"${id === 'all' && html` checked`}> ${name}</label>`)}</fieldset>`;
  return html`<section aria-labelledby="history"><h2 id="history">History</h2>
${drawn.length > 0 && ranges}${drawn}${constant.length > 0 && html`<ul class="constant">${constant}</ul>`}</section>
`;
}

function chart({ name, unit }: Attribute, steps: readonly Step[], checked: number): Html {
  const points = steps.map(({ at, value, source_url }): Point => {
    return { at: Date.parse(at), value: numberOf(value), source_url };
  });
  const until = Math.max(checked, points.at(-1)!.at);
  const newest = steps.at(-1)!.value;
  const changes = steps.length - 1;
  return html`<figure class="course"><figcaption><code>${name}</code> <strong>${newest === null ? 'withdrawn' : printWithUnit(newest, unit)}</strong> <span class="quiet">${changes} ${changes === 1 ? 'change' : 'changes'} since ${printDate(steps[0]!.at)}</span></figcaption>
${RANGES.map(({ id, name: range, days }) => plot({ id, range, name, unit }, inRange(points, until - days * DAY), until))}
<details><summary>Show as table<span class="away"> ${name}</span></summary>${stepTable(steps, unit)}</details></figure>
`;
}

/** The points from a time on; the value valid at that time begins there. */
function inRange(points: readonly Point[], from: number): Point[] {
  const before = points.findLastIndex(({ at }) => at <= from);
  if (before < 0) return [...points];
  return [{ ...points[before]!, at: from }, ...points.slice(before + 1)];
}

const X = 1_000;
const Y = 100;

/** One line. Dates and bounds are text around the drawing, which stretches to the width of the page. */
function plot(
  about: { id: string; range: string; name: string; unit: string | null },
  points: Point[],
  until: number,
): Html {
  const { id, range, name, unit } = about;
  const from = points[0]!.at;
  const numbers = points.flatMap(({ value }) => value ?? []);
  const [low, high] = numbers.length === 0 ? [0, 0] : [Math.min(...numbers), Math.max(...numbers)];
  const x = (at: number) => Math.round(((at - from) / (until - from || 1)) * X);
  const y = (value: number) => (high === low ? Y / 2 : Math.round((1 - (value - low) / (high - low)) * Y));
  let path = '';
  for (const [i, { at, value }] of points.entries()) {
    if (value === null) path += path === '' ? '' : `H${x(at)}`;
    else path += i > 0 && points[i - 1]!.value !== null ? `H${x(at)}V${y(value)}` : `M${x(at)} ${y(value)}`;
  }
  if (points.at(-1)!.value !== null) path += `H${X}`;
  const print = (value: number) => printWithUnit(value, unit);
  const day = (at: number) => printDate(new Date(at).toISOString());
  const steps = points.flatMap(({ at, value, source_url }) => {
    if (value === null) return [];
    const text = `${print(value)} since ${day(at)}`;
    const dot = html`<path class="step" d="M${x(at)} ${y(value)}h0"/>`;
    const address = source_url === undefined ? null : webAddress(source_url);
    return [
      address === null
        ? html`<g><title>${text}</title>${dot}</g>`
        : html`<a href="${address}" rel="nofollow"><title>${text}. Open the source</title>${dot}</a>`,
    ];
  });
  const label = `${name}, ${range}: ${numbers.length} ${numbers.length === 1 ? 'value' : 'values'} from ${print(low)} to ${print(high)}`;
  return html`<div class="range range-${id}"><div class="bounds" aria-hidden="true"><span>${printNumber(high)}</span>${high !== low && html`<span>${printNumber(low)}</span>`}</div><svg viewBox="0 0 ${X} ${Y}" preserveAspectRatio="none" role="group" aria-label="${label}"><path class="grid" d="M0 0H${X}M0 ${Y}H${X}"/><path class="line" d="${path}"/>${steps}</svg><div class="dates" aria-hidden="true"><span>${day(from)}</span><span>checked ${day(until)}</span></div></div>`;
}
