// The map: every point of the selection, gathered in clusters. Clicking a cluster zooms in; the button below
// filters the table by the area in view.

import { boundsOf, type Cluster, gather, type MapBox, type MapPoints } from '../../api/pages/clusters.ts';
import type { MapOutlines, Model } from '../../api/pages/viewer-model.ts';
import { printNumber } from '../../api/render/print.ts';
import { byId, createElement, createSvg } from '../lib/dom.ts';
import { requestRows } from './page-rows.ts';

const WORLD: MapBox = [-180, -60, 180, 84];
/** With the poles. */
const WHOLE: MapBox = [-180, -90, 180, 90];
/** Clusters across the map. */
const CELLS = 56;
/** Smallest width in degrees. */
const CLOSEST = 0.05;
/** Width in degrees from which on a map has finer outlines and names. */
const ZOOMED = 90;
/** Pixels: size of names, half the width of a letter, and the least distance of two lines. */
const NAMES = { size: 12, letter: 3.6, line: 16 };

/** Points of an area. */
type AreaPoints = MapPoints & { area: MapBox };

/** Width of an area that the page requests, as a multiple of the map's: it is moved and zoomed without further requests. */
const AROUND = 2;
/** Records on the map up to which they have names. */
const NAMED = 400;

/** Whether an answer has what the map shows of a box: cells that are fine enough, and names of a few records. */
function isEnough({ area, cell, clusters }: AreaPoints, box: MapBox): boolean {
  const isInside = area[0] <= box[0] && area[1] <= box[1] && area[2] >= box[2] && area[3] >= box[3];
  if (!isInside || cell === 0) return isInside;
  const zoom = (area[2] - area[0]) / (box[2] - box[0]);
  return zoom <= AROUND || (cell <= (box[2] - box[0]) / CELLS && gather(clusters, box, CELLS).total > NAMED);
}

class ClusterMap {
  readonly #model: Model;
  readonly #dots = createSvg('g', { class: 'map-dots' });
  readonly #svg: SVGSVGElement;
  readonly #caption = createElement('figcaption', { className: 'quiet small' });
  readonly #names = createSvg('g', { class: 'map-names' });
  readonly #land = createSvg('g', {});
  #fine: Promise<MapOutlines> | null = null;
  #box: MapBox = WORLD;
  #where: string | null = null;
  /** The last answer of the service. */
  #points: AreaPoints | null = null;
  #turn = 0;
  choose: (bbox: string) => void = () => {};

  constructor(model: Model, outlines: MapOutlines) {
    this.#model = model;
    this.#outline(outlines);
    this.#svg = createSvg(
      'svg',
      { role: 'img', 'aria-label': 'Map of the records of this view; each is also in the table' },
      this.#land,
      this.#dots,
      this.#names,
    ) as SVGSVGElement;
    const button = (text: string, label: string, act: () => void) => {
      const made = createElement('button', { type: 'button', className: 'viewer-toggle' }, text);
      made.ariaLabel = label;
      made.onclick = act;
      return made;
    };
    const bar = createElement(
      'div',
      { className: 'viewer-map-bar' },
      button('+', 'Zoom in', () => this.#zoom(0.5)),
      button('−', 'Zoom out', () => this.#zoom(2)),
      button('←', 'Move west', () => this.#move(-0.3, 0)),
      button('→', 'Move east', () => this.#move(0.3, 0)),
      button('↑', 'Move north', () => this.#move(0, 0.3)),
      button('↓', 'Move south', () => this.#move(0, -0.3)),
      button('World', 'Show the whole world', () => this.#show(WORLD)),
      createElement(
        'button',
        { type: 'button', className: 'button', onclick: () => this.#area() },
        'Filter by this area',
      ),
    );
    byId('viewer-map-figure').replaceChildren(this.#svg, bar, this.#caption);
    this.#drag();
  }

  /** Shows a selection: a filtered one fills the map. */
  async select(selection: URLSearchParams): Promise<void> {
    const where = selection.toString();
    if (where === this.#where) return;
    this.#where = where;
    this.#points = null;
    const bounds = where === '' ? null : boundsOf(await this.#load(WORLD));
    this.#box = bounds === null ? WORLD : fitted(bounds);
    await this.#draw();
  }

  /** The points of the selection in a box, and around it: those that the page has, or those that the service sends. */
  async #load(box: MapBox): Promise<readonly Cluster[]> {
    if (this.#points !== null && isEnough(this.#points, box)) return this.#points.clusters;
    const [west, south, east, north] = box;
    const width = east - west;
    const area = width >= 180 ? WHOLE : around((west + east) / 2, (south + north) / 2, AROUND * width);
    const where = this.#where ?? '';
    const query = new URLSearchParams(where);
    query.set('box', area.join());
    const answer = (await (await requestRows(this.#model, 'points.json', query)).json()) as MapPoints;
    if (where === this.#where) this.#points = { area, ...answer };
    return answer.clusters;
  }

  #outline({ units, land, borders }: MapOutlines): void {
    this.#land.setAttribute('transform', `scale(${1 / units})`);
    const path = (name: string, d: string) => createSvg('path', { class: `map-${name}`, d });
    this.#land.replaceChildren(path('land', land), path('borders', borders));
  }

  /** Draws finer outlines, names of records and of countries on a zoomed map, where they have room. */
  async #refine(clusters: readonly Cluster[], unit: number): Promise<void> {
    const box = this.#box;
    const [west, south, east, north] = box;
    this.#names.replaceChildren();
    if (east - west > ZOOMED) return;
    this.#fine ??= readOutlines(this.#model.land!.zoomed).then((outlines) => {
      this.#outline(outlines);
      return outlines;
    });
    const { names: countries = [] } = await this.#fine;
    if (box !== this.#box) return;
    const records = clusters.flatMap(({ name, lng, lat }) => (name === undefined ? [] : [{ name, lng, lat, dot: 10 }]));
    const names = [...records, ...countries.map(([name, lng, lat]) => ({ name, lng, lat, dot: 0 }))];
    const labels: { x: number; y: number; half: number }[] = [];
    for (const { name, lng, lat, dot } of names) {
      const half = name.length * NAMES.letter * unit;
      // A name at an edge stays within the map.
      const [x, y] = [Math.max(west + half, Math.min(east - half, lng)) + 180, 90 - lat - dot * unit];
      const isNear = (other: (typeof labels)[number]) =>
        Math.abs(other.x - x) < other.half + half && Math.abs(other.y - y) < NAMES.line * unit;
      if (lng < west || lng > east || lat < south || lat > north || labels.some(isNear)) continue;
      labels.push({ x, y, half });
      const size = { 'font-size': NAMES.size * unit, 'stroke-width': 3 * unit };
      const text = createSvg('text', { x, y, ...size, class: dot === 0 ? 'map-country' : '' });
      text.append(name);
      this.#names.append(text);
    }
  }

  #show(box: MapBox): void {
    this.#box = box;
    void this.#draw();
  }

  #zoom(factor: number): void {
    const [west, south, east, north] = this.#box;
    const width = Math.min(360, Math.max(CLOSEST, (east - west) * factor));
    this.#show(around((west + east) / 2, (south + north) / 2, width));
  }

  #move(x: number, y: number): void {
    const [west, south, east, north] = this.#box;
    this.#show(around((west + east) / 2 + x * (east - west), (south + north) / 2 + y * (north - south), east - west));
  }

  #area(): void {
    this.choose(this.#box.map((degrees) => Number(degrees.toFixed(3))).join(','));
  }

  /** Dragging a rectangle filters by it. */
  #drag(): void {
    let start: DOMPoint | null = null;
    const frame = createSvg('rect', { class: 'map-frame' });
    const at = (event: PointerEvent) =>
      new DOMPoint(event.clientX, event.clientY).matrixTransform(this.#svg.getScreenCTM()!.inverse());
    const box = (a: DOMPoint, b: DOMPoint): MapBox => [
      Math.min(a.x, b.x) - 180,
      90 - Math.max(a.y, b.y),
      Math.max(a.x, b.x) - 180,
      90 - Math.min(a.y, b.y),
    ];
    this.#svg.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || event.pointerType === 'touch' || event.target instanceof SVGCircleElement) return;
      start = at(event);
      this.#svg.setPointerCapture(event.pointerId);
    });
    this.#svg.addEventListener('pointermove', (event) => {
      if (start === null) return;
      const [west, south, east, north] = box(start, at(event));
      for (const [name, value] of Object.entries({
        x: west + 180,
        y: 90 - north,
        width: east - west,
        height: north - south,
      }))
        frame.setAttribute(name, String(value));
      this.#dots.append(frame);
    });
    this.#svg.addEventListener('pointerup', (event) => {
      if (start === null) return;
      const [west, south, east, north] = box(start, at(event));
      start = null;
      frame.remove();
      const width = this.#box[2] - this.#box[0];
      if (east - west > width / 100 && north - south > width / 200) {
        this.choose([west, south, east, north].map((degrees) => Number(degrees.toFixed(3))).join(','));
      }
    });
  }

  async #draw(): Promise<void> {
    const request = ++this.#turn;
    const [west, south, east, north] = this.#box;
    this.#svg.setAttribute('viewBox', `${west + 180} ${90 - north} ${east - west} ${north - south}`);
    const points = await this.#load(this.#box);
    if (request !== this.#turn) return;
    const { clusters, total } = gather(points, this.#box, CELLS);
    const unit = (east - west) / Math.max(320, this.#svg.clientWidth || 800);
    const most = clusters[0]?.count ?? 1;
    this.#dots.replaceChildren(...clusters.map((cluster) => this.#dot(cluster, unit, most)));
    void this.#refine(clusters, unit).catch(() => {});
    const all = clusters.every(({ count }) => count === 1);
    this.#caption.textContent = `${printNumber(total)} records in view${all ? '' : '; a click on a circle zooms in'}. Drag to filter by an area. Outlines: Natural Earth.`;
  }

  #dot({ lat, lng, count, slug, name }: Cluster, unit: number, most: number): SVGElement {
    const radius = count === 1 ? 4 : 4 + 9 * Math.sqrt(count / most);
    const dot = createSvg('circle', {
      cx: lng + 180,
      cy: 90 - lat,
      r: radius * unit,
      class: count === 1 ? 'map-one' : 'map-many',
    });
    dot.append(createSvg('title', {}, document.createTextNode(name ?? `${printNumber(count)} records`)));
    dot.addEventListener('click', () => {
      if (slug !== undefined) location.href = this.#model.pages + slug;
      else this.#show(around(lng, lat, Math.max(CLOSEST, (this.#box[2] - this.#box[0]) / 3)));
    });
    return dot;
  }
}

/** A box of the map's ratio around a point. */
function around(lng: number, lat: number, width: number): MapBox {
  const height = (width * (WORLD[3] - WORLD[1])) / (WORLD[2] - WORLD[0]);
  const west = Math.max(-180, Math.min(180 - width, lng - width / 2));
  const south = Math.max(-90, Math.min(90 - height, lat - height / 2));
  return [west, south, west + width, south + height];
}

/** A box of the map's ratio that contains a box, with a margin. */
function fitted([west, south, east, north]: MapBox): MapBox {
  const ratio = (WORLD[2] - WORLD[0]) / (WORLD[3] - WORLD[1]);
  const width = Math.max(east - west, (north - south) * ratio) * 1.08;
  return around((west + east) / 2, (south + north) / 2, Math.min(360, Math.max(CLOSEST, width)));
}

const readOutlines = async (path: string): Promise<MapOutlines> => (await fetch(path)).json() as Promise<MapOutlines>;

let map: Promise<ClusterMap> | null = null;

/** Draws the map of a selection; `choose` receives the `bbox` of a chosen area. */
export async function drawMap(model: Model, selection: URLSearchParams, choose: (bbox: string) => void): Promise<void> {
  map ??= readOutlines(model.land!.world).then((outlines) => new ClusterMap(model, outlines));
  const drawn = await map;
  drawn.choose = choose;
  await drawn.select(selection);
}
