// The origin of an answer: citation and licence, version and time.

import { createHash } from 'node:crypto';
import { DataError } from '../../../data/model/errors.ts';
import { isoTime } from '../../../data/model/time.ts';
import { type Release, releaseTag } from '../../../data/releases/release.ts';
import { derive } from '../../../packs/define/derive.ts';
import { datasetAttribution, licenseText } from '../../../packs/define/links.ts';
import type { Pack } from '../../../packs/define/model.ts';
import type { Context, Validators } from '../../contract/operation.ts';

/** Top-level members of every JSON object under `/v1` (contract section 2). */
export interface About {
  attribution: string;
  license: string;
}

/** Citation and licence of an answer about one dataset. */
export function aboutDataset(pack: Pack, base_url: string): About {
  return { attribution: datasetAttribution(pack, base_url), license: licenseText(pack) };
}

/** Citation and licence of an answer about the whole register. */
export function aboutRegister(base_url: string): About {
  return {
    attribution: `Dataset register. ${base_url}/`,
    license: 'Each dataset has its own licence; see its entry.',
  };
}

/** The release of an operation with `{ds}`, leased by the gate. */
export function releaseOf(ctx: Context): Release {
  if (!ctx.release) throw new DataError('unavailable', 'This dataset has no release yet.');
  return ctx.release;
}

/** Fingerprint of all parts of a pack that answers show: texts, attributes, prices, template, samples. */
export function packVersion(pack: Pack): string {
  return derive(pack, 'pack version', () => {
    // The folder on disk never appears in an answer.
    const { folder: _, ...visible } = pack;
    const text = JSON.stringify(visible, (_name, value: unknown) =>
      typeof value === 'function' ? String(value) : value,
    );
    return createHash('sha256').update(text).digest('hex').slice(0, 16);
  });
}

/** Time of the release, or of the newest change of its overlay that it does not contain. ISO 8601. */
export function releaseTime(release: Release): string {
  const { release: id, created_at } = release.manifest;
  if (releaseTag(release) === id) return created_at;
  const newest = (release.overlay?.feed.at(-1)?.recorded_at ?? 0) / 1000;
  return isoTime(Math.max(Date.parse(created_at), newest));
}

/** Validators of an answer that depends on the release and the pack alone. */
export async function releaseValidators(_raw: unknown, ctx: Context): Promise<Validators> {
  const release = releaseOf(ctx);
  return { version: `${releaseTag(release)} ${packVersion(release.pack)}`, last_modified: releaseTime(release) };
}
