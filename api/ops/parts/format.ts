// Formats times, amounts and values for the operators' pages.

import type { Value } from '../../../packs/define/model.ts';
import { type Html, html } from '../../pages/html.ts';
import { plural, printEuro, printMinute, printNumber, printValue, webAddress } from '../../render/print.ts';

const MINUTE = 60_000;

/** A time relative to now: `just now`, `5 minutes ago`, `in 3 hours`. */
export function relativeTime(at: number, now: number): string {
  const late = Math.abs(now - at);
  if (late < MINUTE) return 'just now';
  const [count, unit] =
    late < 90 * MINUTE
      ? [late / MINUTE, 'minute']
      : late < 48 * 60 * MINUTE
        ? [late / (60 * MINUTE), 'hour']
        : late < 60 * 1440 * MINUTE
          ? [late / (1440 * MINUTE), 'day']
          : late < 730 * 1440 * MINUTE
            ? [late / (30.44 * 1440 * MINUTE), 'month']
            : [late / (365.25 * 1440 * MINUTE), 'year'];
  const amount = plural(Math.round(count), unit);
  return at <= now ? `${amount} ago` : `in ${amount}`;
}

/** A relative time with the exact one as its title. */
export function timeHtml(at: string | number, now: Date): Html {
  const date = new Date(at);
  const iso = `${date.toISOString().slice(0, 16)}Z`;
  return html`<time datetime="${iso}" title="${printMinute(at)} UTC">${relativeTime(date.getTime(), now.getTime())}</time>`;
}

/** A duration in seconds: `0.4 s`, `12 s`, `3 min 20 s`. */
export function formatDuration(seconds: number): string {
  if (seconds < 0.1) return '< 0.1 s';
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Micro-euros as EUR. */
export const formatEur = (micros: number): string =>
  micros < 0 ? `−${printEuro(-micros / 1e6)}` : printEuro(micros / 1e6);

/** Micro-euros as EUR with two decimals; below one euro with all decimals. */
export const formatCents = (micros: number): string => {
  if (Math.abs(micros) < 1e6) return formatEur(micros);
  const euro = (Math.abs(micros) / 1e6).toFixed(2);
  return `${micros < 0 ? '−' : ''}€${euro.replace(/\B(?=(\d{3})+(?!\d))/g, ',')}`;
};

/** A count with separators. */
export const formatCount = (n: number): string => printNumber(n);

/** A value of a record, or `no value`. */
export function valueHtml(of: Value | null | undefined, unit: string | null = null): Html {
  if (of === undefined || of === null) return html`<i class="none">no value</i>`;
  return html`<span class="v">${printValue(of)}</span>${unit === null ? '' : html` <span class="u">${unit}</span>`}`;
}

/** A link if the URL is http(s), else its text: a `javascript:` URL must not become a link. */
export function linkHtml(url: string | null, text?: string): Html {
  const safe = url === null ? null : webAddress(url);
  if (safe === null) return html`${text ?? url ?? ''}`;
  return html`<a href="${safe}" rel="noreferrer">${text ?? hostOf(safe)}</a>`;
}

const hostOf = (url: string): string => new URL(url).host;

/** The state of a run or item as a badge. */
export function badgeHtml(word: string, mood: 'good' | 'bad' | 'wait' | 'plain' = 'plain'): Html {
  return html`<span class="badge ${mood}">${word}</span>`;
}
