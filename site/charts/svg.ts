// Renders Observable Plot without a browser: into a linkedom document, in the colours of the page, without
// inline styles.
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { html } from '../../api/pages/html.ts';

type Options = NonNullable<Parameters<typeof Plot.plot>[0]>;

/** Draws a chart; `label` is its text for screen readers. */
export function drawChart(label: string, options: Options): string {
  const { document } = parseHTML('<!doctype html><html><body></body></html>');
  const svg = Plot.plot({ ...options, document: document as unknown as Document }) as unknown as Element;
  for (const style of svg.querySelectorAll('style')) style.remove();
  for (const one of svg.querySelectorAll('[style]')) one.removeAttribute('style');
  for (const name of ['aria-label', 'aria-description'])
    for (const one of svg.querySelectorAll(`[${name}]`)) one.removeAttribute(name);
  svg.removeAttribute('font-family');
  svg.removeAttribute('font-size');
  svg.setAttribute('role', 'img');
  // Rounds coordinates to a tenth of a pixel and leaves texts unchanged.
  const text = svg.outerHTML
    .replace(/="[^"]*"/g, (value) => value.replace(/(\d+\.\d)\d+/g, '$1'))
    .replaceAll('xmlns:xlink="http://www.w3.org/1999/xlink"', '');
  return text.replace('<svg', () => `<svg${html` aria-label="${label}"`}`);
}

export { Plot };

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/**
 * `1200000` as `1.2M`.
 *
 * @example
 * ```ts
 * compact(1_200_000); // '1.2M'
 * ```
 */
export const compact = (value: number): string => COMPACT.format(value);
