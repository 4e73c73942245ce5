// What answers say of their origin: citation and licence, and the part of an ETag that a pack decides.
import { createHash } from 'node:crypto';
import { DataError } from '../../../data/model/errors.ts';
import { type Release, releaseTag } from '../../../data/releases/release.ts';
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
    license: 'Each dataset has a licence of its own, named with it.',
  };
}

/** The release of an operation with `{ds}`; the gate has leased it. */
export function releaseOf(ctx: Context): Release {
  if (!ctx.release) throw new DataError('unavailable', 'This dataset has no release yet.');
  return ctx.release;
}

const versions = new WeakMap<Pack, string>();

/** Changes with whatever the publisher wrote in the pack that answers show: texts, attributes, prices, template, samples. */
export function packVersion(pack: Pack): string {
  let version = versions.get(pack);
  if (version === undefined) {
    // Functions and the place on disk fall out: they never show.
    const { folder: _, ...shown } = pack;
    version = createHash('sha256').update(JSON.stringify(shown)).digest('hex').slice(0, 16);
    versions.set(pack, version);
  }
  return version;
}

/** Version of an answer that depends on the release and the pack alone. */
export async function releaseVersion(_raw: unknown, ctx: Context): Promise<string> {
  const release = releaseOf(ctx);
  return `${releaseTag(release)} ${packVersion(release.pack)}`;
}

/** When the release was made; unknown while an edit lies over it that it does not hold. */
export function releaseTime(release: Release): string | undefined {
  const { release: id, created_at } = release.manifest;
  return releaseTag(release) === id ? created_at : undefined;
}

/** Validators of an answer that depends on the release and the pack alone. */
export async function releaseValidators(raw: unknown, ctx: Context): Promise<Validators> {
  return { version: await releaseVersion(raw, ctx), last_modified: releaseTime(releaseOf(ctx)) };
}
