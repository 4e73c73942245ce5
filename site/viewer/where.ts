// The parameters of a view as conditions, parsed by the API's own parsers.

import { parseFilters } from '../../data/input/filters.ts';
import { listValues, parseNumberBetween, parseText, parseTime } from '../../data/input/parse-values.ts';
import { parseBox, parseNear } from '../../data/input/places.ts';
import type { Predicate } from '../../data/plan/plan.ts';
import { derive } from '../../packs/define/derive.ts';
import type { Pack } from '../../packs/define/model.ts';
import { words } from '../../packs/define/text.ts';
import type { Model } from './model.ts';

/** Parameters that are not filters of attributes. */
const OTHERS: Record<string, (name: string, raw: string, pack: Pack) => Predicate> = {
  q: (name, raw) => ({ kind: 'words', words: [...new Set(words(parseText(name, raw)))], scope: 'public' }),
  near: (_name, raw, pack) => parseNear(raw, pack),
  bbox: (_name, raw, pack) => parseBox(raw, pack),
  ids: (_name, raw) => ({ kind: 'ids', refs: listValues(raw).map((ref) => ref.toLowerCase()) }),
  min_quality: (name, raw) => ({ kind: 'min_quality', value: parseNumberBetween(name, raw, 0, 1) }),
  updated_since: (name, raw) => ({ kind: 'updated_since', at: parseTime(name, raw) }),
};

/** The members of a pack that parsers of conditions read. */
function packOf(model: Model): Pack {
  return derive(model, 'pack of the viewer', () => {
    const attributes = model.attributes.map((each) => ({ ...each, aliases: [], values: null }));
    return { id: model.dataset, attributes } as unknown as Pack;
  });
}

/** The conditions of a selection; throws DataError, with the message of the API, for a wrong parameter. */
export function conditionsOf(selection: URLSearchParams, model: Model): Predicate[] {
  const pack = packOf(model);
  const raw = Object.fromEntries(selection);
  const others = Object.entries(OTHERS);
  const { where } = parseFilters(
    raw,
    pack,
    others.map(([name]) => name),
  );
  return [
    ...where,
    ...others.flatMap(([name, parse]) => (raw[name] === undefined ? [] : parse(name, raw[name], pack))),
  ];
}
