// Labels of attributes for people, as pages show them; code names stay in code and files.
import type { Attribute } from './model.ts';

/** Words of names that are abbreviations. */
const ABBREVIATIONS = /^(?:api|gps|iata|icao|id|ip|iso|uri|url|utc)$/;

/** The label of the pack, else one from the name with its group last: `price.output` is "Output price". */
export function attributeLabel({ name, label }: Pick<Attribute, 'name' | 'label'>): string {
  if (label !== undefined) return label;
  const words = name.split('.').toReversed().join('_').split('_');
  const text = words.map((word) => (ABBREVIATIONS.test(word) ? word.toUpperCase() : word)).join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
