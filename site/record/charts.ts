// Charts of records and comparisons: a tooltip with the values at the pointer, and a button that saves a PNG.
import { createElement } from '../lib/dom.ts';

/** Width of the coordinates of a chart (api/pages/step-chart.ts). */
const WIDTH = 1000;

/** The texts of the steps that are valid at a place from 0 to WIDTH, one for each line. */
function textsAt(plot: Element, place: number): string[] {
  return [...plot.querySelectorAll('g[class^="line-"]')].flatMap((line) => {
    const steps = [...line.querySelectorAll('.step')];
    const step = steps.findLast((dot) => Number(/^M([\d.]+)/.exec(dot.getAttribute('d') ?? '')?.[1]) <= place);
    return step?.parentElement?.querySelector('title')?.textContent.replace('. Open the source', '') ?? [];
  });
}

/** Connects all charts of the page, also those that it shows later. */
export function connectCharts(): void {
  const tooltip = createElement('p', { className: 'chart-tip', hidden: true });
  document.body.append(tooltip);
  document.addEventListener('pointermove', ({ target, clientX, clientY }) => {
    const plot = (target as Element).closest('.range .plot');
    const box = plot?.getBoundingClientRect();
    const texts = plot && box ? textsAt(plot, ((clientX - box.left) / box.width) * WIDTH) : [];
    tooltip.hidden = texts.length === 0;
    tooltip.replaceChildren(...texts.map((text) => createElement('span', {}, text)));
    tooltip.style.left = `${Math.min(clientX + 14, innerWidth - tooltip.offsetWidth - 8)}px`;
    tooltip.style.top = `${clientY + 18}px`;
  });
  document.addEventListener('click', ({ target }) => {
    const figure = (target as Element).closest('button.png')?.closest('figure');
    if (figure) void savePng(figure);
  });
}

/** Presentation attributes that the style sheet sets, which a file must contain itself. */
const STYLED = [
  'overflow',
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-linecap',
  'vector-effect',
  'font-size',
];

/** A drawing of the page as text, with the colours that it has now, at a place of the file. */
function copyOf(drawing: SVGElement | null, place: Record<string, number>): string {
  if (drawing === null) return '';
  const copy = drawing.cloneNode(true) as SVGElement;
  const originals = [drawing, ...drawing.querySelectorAll('*')];
  for (const [i, element] of [copy, ...copy.querySelectorAll('*')].entries()) {
    const style = getComputedStyle(originals[i]!);
    for (const name of STYLED) element.setAttribute(name, style.getPropertyValue(name));
  }
  for (const [name, value] of Object.entries(place)) copy.setAttribute(name, String(value));
  return new XMLSerializer().serializeToString(copy);
}

async function savePng(figure: HTMLElement): Promise<void> {
  const range = [...figure.querySelectorAll('.range')].find((candidate) => candidate.checkVisibility());
  const [plot, bounds, labels, dates] = ['.plot', '.bounds', '.labels', '.dates'].map(
    (name) => range?.querySelector<SVGElement>(name) ?? null,
  );
  const { color, backgroundColor } = getComputedStyle(document.body);
  const title = createElement('span', {}, figure.querySelector('figcaption')?.textContent ?? '').innerHTML;
  const area = { x: 40, y: 70, width: 990, height: 330 };
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="500" font-family="sans-serif"><rect width="1200" height="500" fill="${backgroundColor}"/><text x="40" y="42" font-size="20" fill="${color}">${title}</text>${copyOf(plot!, area)}${copyOf(labels!, area)}${copyOf(bounds!, { ...area, x: 1045, width: 150 })}${copyOf(dates!, { ...area, y: 412, height: 30 })}<text x="40" y="480" font-size="13" fill="${color}">${location.host}${location.pathname}</text></svg>`;
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = createElement('canvas', { width: 1200, height: 500 });
  canvas.getContext('2d')?.drawImage(image, 0, 0);
  createElement('a', { href: canvas.toDataURL('image/png'), download: `${document.title}.png` }).click();
}
