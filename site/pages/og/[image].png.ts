// Open Graph images of the register and of each dataset: a map of its records, or the distribution of a value.
import type { APIRoute } from 'astro';
import type { SiteDataset } from '../../../api/pages/site.ts';
import { plural, printDate } from '../../../api/render/print.ts';
import { DATED } from '../../../packs/define/model.ts';
import { map } from '../../charts/map.ts';
import { drawable, drawShareImage, type ShareImage } from '../../charts/share-image.ts';
import { compact } from '../../charts/svg.ts';
import { data, datasetIds, datasetOf } from '../../data.ts';

/** Pixels; `radius` and `degrees` of the dots that show records. */
const MAP = { width: 700, height: 330, radius: 4, degrees: 4, coarse: false };

function mapOf({ profile }: SiteDataset): ShareImage['chart'] {
  for (const one of profile) {
    const svg = map(one, one.count ?? 0, MAP);
    if (svg !== '') return { svg: svg.replace('<svg', '<svg xmlns="http://www.w3.org/2000/svg"'), ...MAP };
  }
  return undefined;
}

/** The distribution of the first public number, the ones that distinguish records first. */
function barsOf({ profile, compare, attributes }: SiteDataset): ShareImage['bars'] {
  const open = attributes.filter((attribute) => attribute.public).map(({ name }) => name);
  for (const name of [...compare, ...open]) {
    const { histogram: bins = [], unit, type } = profile.find((candidate) => candidate.name === name) ?? {};
    const [first, last] = [bins[0], bins.at(-1)];
    if (!open.includes(name) || first === undefined || last === undefined || bins.length < 4) continue;
    const print = (value: number) => (type && DATED.includes(type) ? String(value) : compact(value));
    const counts = bins.map(({ count }) => count);
    return { counts, title: unit ? `${name} in ${unit}` : name, from: print(first.from), to: print(last.to) };
  }
  return undefined;
}

function datasetImage(dataset: SiteDataset): ShareImage {
  const { title, records, sources, as_of } = dataset;
  const chart = mapOf(dataset);
  const bars = chart ? undefined : barsOf(dataset);
  return {
    kicker: 'Dataset Register',
    title: drawable(title, dataset.id),
    detail: `${plural(records, 'record')} · ${plural(sources.length, 'source')} · updated ${printDate(as_of)}`,
    values: [],
    ...(chart ? { chart } : {}),
    ...(bars ? { bars } : {}),
  };
}

function registerImage(): ShareImage {
  return {
    kicker: 'Dataset Register',
    title: 'Data with a source for every value',
    detail: 'For people, analysts and AI agents',
    values: data.datasets.slice(0, 4).map(({ title, records, as_of }) => {
      return { value: drawable(title), origin: `${plural(records, 'record')}, updated ${printDate(as_of)}` };
    }),
  };
}

/** Name of the image of the register. */
const REGISTER = 'index';

export const paths = (): string[] => [REGISTER, ...datasetIds()];

export const ALL: APIRoute = async ({ params: { image } }) => {
  const drawn = image === REGISTER ? registerImage() : datasetImage(datasetOf(image));
  return new Response(await drawShareImage(drawn), { headers: { 'Content-Type': 'image/png' } });
};
