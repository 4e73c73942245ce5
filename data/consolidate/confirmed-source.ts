// Provenance of a published value: address and evidence of the newest reading that confirmed it.
import type { Pack } from '../../packs/define/model.ts';
import { BoundedCache } from '../model/bounded-cache.ts';
import type { ConsolidationContext } from './settle.ts';

/** A version number that is not part of a longer one. */
const EXACT = (version: string) => new RegExp(`(?<![\\w.])(v?)${RegExp.escape(version)}(?![\\w-]|\\.\\d)`, 'g');

function replaceVersion(text: string, from: string, to: string): string {
  if (!text.includes(from)) return text;
  return text.replace(EXACT(from), (_, prefix: string) => `${prefix}${to}`);
}

/** Evidence with another version, by both versions and the text: most records have the same few texts. */
const replaced = new BoundedCache<string, string>('replaced evidence', { most: 10_000 });

function replaceInEvidence(text: string, from: string, to: string): string {
  return replaced.of(`${from}\n${to}\n${text}`, () => replaceVersion(text, from, to));
}

/** Source data of a statement. `at`: observed_at in milliseconds. */
interface Stated {
  source: string;
  at: number;
  source_url: string;
  evidence: string;
}

/**
 * `source_url` and `evidence` as of `confirmed_at` (milliseconds). A reading that only confirms a value
 * stores no texts (contract section 5): the version in both texts is replaced by that of the confirming
 * reading, and the address by the collector's `confirmedUrl` if it has one. Facts keep the texts of their
 * first observation.
 */
export function confirmedSource(
  { collector }: Pick<Pack, 'collector'>,
  { source, at, source_url, evidence }: Stated,
  { versions }: Pick<ConsolidationContext, 'versions'>,
  confirmed_at: number,
): { source_url: string; evidence: string } {
  const version = versions?.get(source);
  const from = version?.get(at);
  const to = version?.get(confirmed_at);
  if (from === undefined || to === undefined || from === to) return { source_url, evidence };
  const url = collector.confirmedUrl?.(source_url, { source, from, to }) ?? replaceVersion(source_url, from, to);
  return { source_url: url, evidence: replaceInEvidence(evidence, from, to) };
}
