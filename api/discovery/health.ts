// /healthz: whether the process lives, since when, and which releases it serves (contract section 2).
import type { View } from './document.ts';

export interface Health {
  status: 'ok' | 'empty';
  started_at: string;
  /** Every current release is open and answers from memory. */
  cache_warm: boolean;
  /** Release id by dataset. */
  release: Record<string, string>;
}

/** `empty` means that no dataset has a release yet: there is nothing to serve. */
export function health({ releases }: Pick<View, 'releases'>, started_at: Date): Health {
  return {
    status: releases.length === 0 ? 'empty' : 'ok',
    started_at: started_at.toISOString(),
    cache_warm: releases.length > 0 && releases.every(({ warm }) => warm?.() ?? true),
    release: Object.fromEntries(releases.map(({ pack, manifest }) => [pack.id, manifest.release])),
  };
}
