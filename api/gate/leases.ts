// Leases of releases for a request: the current release of a dataset, or of all, until the answer has been
// sent.

import { printable } from '../../data/input/parse-values.ts';
import { nameSuggestion } from '../../data/input/suggester.ts';
import { DataError } from '../../data/model/errors.ts';
import { buildProgress, type NightReader } from '../../data/releases/night-state.ts';
import type { Lease, Register } from '../../data/releases/register.ts';
import type { CallDeps, Leases } from './execute.ts';

/** Seconds after which a client tries again while a run builds the dataset. */
const BUILDING_RETRY = 5;

/** The error for a dataset without a lease: unknown name (404), or no release that opens (503). */
function leaseError(register: Register, night: NightReader, dataset: string): DataError {
  const state = register.state(dataset);
  if (state === 'missing' || state === 'damaged') {
    const { text, expected } = buildProgress(night(), dataset);
    const reason = state === 'missing' ? `: ${text}` : '';
    const message = `The dataset ${dataset} has no release to answer from yet${reason}.`;
    return new DataError('unavailable', message, undefined, expected ? BUILDING_RETRY : undefined);
  }
  const instead = nameSuggestion(dataset, register.packs.keys());
  return new DataError('unknown_dataset', `There is no dataset "${printable(dataset)}".${instead}`);
}

/**
 * Leases releases from the register. An earlier release, leased for a cursor, is held as long as the rest.
 */
export function leaseReleases(register: Register, night: NightReader): CallDeps['lease'] {
  return async (dataset) => {
    if (dataset !== null) {
      const lease = register.lease(dataset);
      if (lease === null) throw leaseError(register, night, dataset);
      return new RequestLeases(register, dataset, [lease]);
    }
    return new RequestLeases(
      register,
      null,
      [...register.packs.keys()].flatMap((name) => register.lease(name) ?? []),
    );
  };
}

/** The leases of one request. `done`, `leaseEarlier` and `leaseOther` work without the object. */
class RequestLeases implements Leases {
  readonly release: Lease['release'] | undefined;
  readonly releases: Lease['release'][];
  readonly done: () => void;
  readonly leaseEarlier: Leases['leaseEarlier'];
  readonly leaseOther: NonNullable<Leases['leaseOther']>;

  constructor(register: Register, dataset: string | null, leases: Lease[]) {
    this.releases = leases.map(({ release }) => release);
    this.release = dataset === null ? undefined : this.releases[0];
    this.done = () => {
      for (let lease = leases.pop(); lease !== undefined; lease = leases.pop()) lease.done();
    };
    this.leaseOther = (name) => {
      const lease = register.lease(name);
      if (lease) leases.push(lease);
      return lease?.release ?? null;
    };
    this.leaseEarlier = async (id) => {
      const lease = dataset === null ? null : await register.leaseById(dataset, id);
      if (lease) leases.push(lease);
      return lease?.release ?? null;
    };
  }
}
