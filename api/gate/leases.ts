// Leases of releases for a request: the current release of a dataset, or of all, until the answer has been
// sent.

import { nameSuggestion } from '../../data/input/name-suggestions.ts';
import { printable } from '../../data/input/parse-values.ts';
import { DataError } from '../../data/model/errors.ts';
import type { Lease, Register } from '../../data/releases/register.ts';
import type { CallDeps, Leases } from './execute.ts';

/** The error for a dataset without a lease: unknown name (404), or no release that opens (503). */
function leaseError(register: Register, dataset: string): DataError {
  const state = register.state(dataset);
  if (state === 'missing' || state === 'damaged')
    return new DataError('unavailable', `The dataset ${dataset} has no release to answer from yet.`);
  const instead = nameSuggestion(dataset, register.packs.keys());
  return new DataError('unknown_dataset', `There is no dataset "${printable(dataset)}".${instead}`);
}

/**
 * Leases releases from the register. An earlier release, leased for a cursor, is held as long as the rest.
 */
export function leaseReleases(register: Register): CallDeps['lease'] {
  return (dataset) => {
    const names = dataset === null ? [...register.packs.keys()] : [dataset];
    const openLeases: Lease[] = [];
    const done = () => {
      for (const lease of openLeases.splice(0)) lease.done();
    };
    for (const name of names) {
      const lease = register.lease(name);
      if (lease) openLeases.push(lease);
      else if (dataset !== null) throw leaseError(register, dataset);
    }
    const releases = openLeases.map(({ release }) => release);
    const [release] = releases;
    const leaseEarlier: Leases['leaseEarlier'] = async (id) => {
      const lease = dataset === null ? null : await register.lease(dataset, id);
      if (lease) openLeases.push(lease);
      return lease?.release ?? null;
    };
    const leases: Leases = { releases, leaseEarlier, done };
    if (dataset !== null && release) leases.release = release;
    return leases;
  };
}
