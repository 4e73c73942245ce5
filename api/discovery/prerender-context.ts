// Runs operations for files and documents: as a caller without a credential, at the time when the release was
// made.
import type { Context } from '../contract/operation.ts';
import type { View } from './document.ts';

type Release = NonNullable<Context['release']>;

/** Time of answers about several releases: when the newest one was made. */
export function releaseTime(releases: readonly Release[]): Date {
  return new Date(Math.max(0, ...releases.map(({ manifest }) => Date.parse(manifest.created_at))));
}

/**
 * The gate's context of a public call to this path, for a dataset, or for the register as a whole.
 *
 * @example
 * ```ts
 * const context = prerenderContext(view, { release, path: '/v1/:ds/examples', format: 'json' });
 * const { body } = await dataset_examples.run({}, context);
 * ```
 */
export function prerenderContext(
  view: Pick<View, 'releases' | 'operations' | 'base_url' | 'eur_usd' | 'cursors'>,
  { release, path, format }: { release: Release | undefined; path: string; format: Context['format'] },
): Context {
  const releases = release ? [release] : view.releases;
  return {
    ...(release ? { release } : {}),
    visibility: 'public',
    admin: false,
    previews: null,
    now: releaseTime(releases),
    base_url: view.base_url,
    url: new URL(view.base_url + path),
    signal: new AbortController().signal,
    format,
    leaseEarlier: async () => null,
    ...(view.cursors ? { cursors: view.cursors } : {}),
    register: { releases, operations: view.operations, eur_usd: view.eur_usd },
  };
}
