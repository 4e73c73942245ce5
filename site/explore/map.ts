// The map: a dot for each record on the outline of the continents, without map tiles or requests.

interface Dot {
  slug: string;
  name: string;
  lat: number;
  lng: number;
}

const SVG = 'http://www.w3.org/2000/svg';
/** Minimal width in degrees, so that a single dot is shown with its coast. */
const LEAST = 36;

/** Draws into the `<svg>` of the page, whose unit is a degree. */
export class WorldMap {
  readonly #svg: SVGSVGElement;
  readonly #dots: SVGGElement;
  #fitted: string | null = null;
  #near = true;

  constructor(svg: SVGSVGElement, chosen: (lat: number, lng: number) => void) {
    this.#svg = svg;
    this.#dots = svg.querySelector<SVGGElement>('.map-dots')!;
    svg.addEventListener('click', (event) => {
      const matrix = svg.getScreenCTM();
      if (matrix === null) return;
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
      chosen(Math.max(-90, Math.min(90, 90 - y)), Math.max(-180, Math.min(180, x - 180)));
    });
  }

  /** Draws the dots, and the circle of the `near` filter. */
  draw(dots: readonly Dot[], near: { lat: number; lng: number; km: number } | null): void {
    const made: SVGElement[] = [];
    if (near !== null) made.push(circle(near));
    const marks = dots.map((dot) => {
      const mark = document.createElementNS(SVG, 'circle');
      mark.setAttribute('cx', String(dot.lng + 180));
      mark.setAttribute('cy', String(90 - dot.lat));
      mark.dataset['slug'] = dot.slug;
      const title = document.createElementNS(SVG, 'title');
      title.textContent = dot.name;
      mark.append(title);
      return mark;
    });
    this.#dots.replaceChildren(...made, ...marks);
    this.#fitted = fit(dots, near);
    this.#view();
  }

  /** Whether the map can zoom to the records. */
  get fits(): boolean {
    return this.#fitted !== null && Number(this.#fitted.split(' ')[2]) < 250;
  }

  /** Switches between the records and the whole world. */
  toggle(): boolean {
    this.#near = !this.#near;
    this.#view();
    return this.#near;
  }

  point(slug: string | null): void {
    for (const mark of this.#dots.querySelectorAll<SVGElement>('[data-slug]'))
      mark.classList.toggle('pointed', mark.dataset['slug'] === slug);
  }

  #view(): void {
    const box = (this.#near && this.fits ? this.#fitted : null) ?? '0 2 360 144';
    this.#svg.setAttribute('viewBox', box);
    const [, , width = 360] = box.split(' ').map(Number);
    // The same size in pixels on every screen.
    this.#svg.style.setProperty('--dot', String((width / Math.max(200, this.#svg.clientWidth)) * 5));
  }
}

function circle({ lat, lng, km }: { lat: number; lng: number; km: number }): SVGElement {
  const around = document.createElementNS(SVG, 'ellipse');
  const degrees = km / 111.2;
  around.setAttribute('cx', String(lng + 180));
  around.setAttribute('cy', String(90 - lat));
  around.setAttribute('ry', String(degrees));
  around.setAttribute('rx', String(degrees / Math.max(0.05, Math.cos((lat * Math.PI) / 180))));
  around.setAttribute('class', 'map-near');
  return around;
}

/**
 * The rectangle around all dots and the circle, in the ratio of the map; null when there is nothing to fit.
 */
function fit(dots: readonly Dot[], near: { lat: number; lng: number; km: number } | null): string | null {
  const points = dots.map(({ lat, lng }) => [lng + 180, 90 - lat] as const);
  if (near !== null) {
    const degrees = near.km / 111.2;
    const wide = degrees / Math.max(0.05, Math.cos((near.lat * Math.PI) / 180));
    points.push([near.lng + 180 - wide, 90 - near.lat - degrees], [near.lng + 180 + wide, 90 - near.lat + degrees]);
  }
  if (points.length === 0) return null;
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const width = Math.min(360, Math.max(LEAST, (right - left) * 1.2, (bottom - top) * 1.2 * 2.5));
  const height = width / 2.5;
  const x = Math.max(0, Math.min(360 - width, (left + right) / 2 - width / 2));
  const y = Math.max(0, Math.min(180 - height, (top + bottom) / 2 - height / 2));
  return [x, y, width, height].map((each) => each.toFixed(2)).join(' ');
}
