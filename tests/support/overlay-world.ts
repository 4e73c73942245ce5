// A dataset with an overlay that a test changes: the store, the register that serves it, and the changes.
import { randomUUID } from 'node:crypto';
import { datasetNight } from '../../build/night/dataset.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import { type EditContext, editRecord, withEntry } from '../../data/releases/overlay-edit.ts';
import { storedOverlays } from '../../data/releases/overlay-source.ts';
import { openOverlays } from '../../data/releases/overlays.ts';
import { openRegister, type Register } from '../../data/releases/register.ts';
import type { Release } from '../../data/releases/release.ts';
import { openStore, type Store } from '../../data/state/store.ts';
import type { Pack, Value } from '../../packs/define/model.ts';
import { still } from './night-pack.ts';

export interface OverlayWorld {
  store: Store;
  register: Register;
  /** The served release. */
  release(): Release;
  /** All served records, by id. */
  records(): Promise<Map<string, StoredRecord>>;
  night(now: string, options?: { collects?: boolean }): ReturnType<typeof datasetNight>;
  optOut(id: string, now: string): Promise<void>;
  restore(id: string, now: string): Promise<void>;
  say(id: string, values: Record<string, Value | null>, now: string): Promise<void>;
  decide(id: string, item: string, attribute: string, status: 'approved' | 'rejected', now: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens a store in a folder, makes a first release of the pack unless `now` is null, and serves it. */
export async function openWorld(folder: string, pack: Pack, now: string | null): Promise<OverlayWorld> {
  const store = await openStore({ dataDir: folder });
  const night: OverlayWorld['night'] = async (at, options = {}) => {
    const made = await datasetNight(pack, folder, still(at), {
      accept: true,
      overlays: storedOverlays(store),
      ...options,
    });
    await register?.refresh();
    return made;
  };
  let register: Register | null = null;
  if (now !== null) await night(now);
  register = await openRegister({ dataDir: folder, packs: [pack], log: () => {}, overlays: await openOverlays(store) });
  const served = register;
  const editing = { store, refresh: () => served.refresh(), current: (id: string) => served.current(id) };
  const dataset = pack.id;
  const release = () => served.current(dataset)!;
  const records: OverlayWorld['records'] = async () => {
    const query = { where: [], sort: { key: 'quality', descending: true }, after: null, limit: 1000, total: false };
    const { engine } = release();
    const bodies = await engine.bodies((await engine.search(query)).ordinals);
    return new Map(bodies.map(({ body }) => JSON.parse(body) as StoredRecord).map((record) => [record.id, record]));
  };
  return {
    store,
    register: served,
    release,
    night,
    records,
    optOut: async (id, at) => optOutRecord(editing, dataset, (await records()).get(id)!, at),
    async restore(id, at) {
      await editRecord(editing, {
        dataset,
        entity: id,
        now: Date.parse(at),
        alter: (overlay) => ({
          ...overlay,
          removed: new Map([...overlay.removed].filter(([entity]) => entity !== id)),
        }),
        write: async (tx, restored_version) => {
          await tx
            .updateTable('opt_outs')
            .set({ restored_at: Date.parse(at), restored_version })
            .where('entity_id', '=', id)
            .where('restored_at', 'is', null)
            .execute();
        },
      });
    },
    say: (id, values, at) => editAsOwner(editing, dataset, id, values, at),
    async decide(id, item, attribute, status, now) {
      const at = Date.parse(now);
      await editRecord(editing, {
        dataset,
        entity: id,
        now: at,
        alter: (overlay, version) => {
          return {
            ...overlay,
            decided: withEntry(overlay.decided, id, { id: item, entity: id, attribute, status, at, version }),
          };
        },
        write: async (tx, version) => {
          const row = {
            id: item,
            dataset,
            entity_id: id,
            attribute,
            status,
            at,
            decided_by: 'a test',
            version,
            item: '{}',
          };
          await tx.insertInto('decisions').values(row).execute();
        },
      });
    },
    async close() {
      await served.close();
      await store.close();
    },
  };
}

/** Removes a record as an opt-out does. */
export async function optOutRecord(
  editing: EditContext,
  dataset: string,
  { id, slug }: Pick<StoredRecord, 'id' | 'slug'>,
  at: string,
): Promise<void> {
  const now = Date.parse(at);
  const [contact, domain] = ['a@b.example', 'b.example'];
  const row = { id: randomUUID(), dataset, entity_id: id, slug, name: 'A record', contact, domain };
  await editRecord(editing, {
    ...{ dataset, entity: id, now },
    alter: (overlay, version) => ({
      ...overlay,
      removed: new Map(overlay.removed).set(id, { entity: id, slug, version }),
    }),
    write: async (tx, version) => {
      const rest = { reason: null, at: now, version, restored_at: null, restored_version: null };
      await tx
        .insertInto('opt_outs')
        .values({ ...row, ...rest })
        .execute();
    },
  });
}

/** Publishes values of an owner, as an edit does; null withdraws one. */
export async function editAsOwner(
  editing: EditContext,
  dataset: string,
  id: string,
  values: Record<string, Value | null>,
  at: string,
): Promise<void> {
  const now = Date.parse(at);
  const facts = Object.entries(values).map(([attribute, value]) => {
    const json = value === null ? null : JSON.stringify(value);
    return { attribute, at: now, value: json, source_url: 'https://owner.example/', evidence: 'said so' };
  });
  await editRecord(editing, {
    ...{ dataset, entity: id, now },
    alter: (overlay, version) => {
      const entries = facts.map((fact) => ({ entity: id, version, ...fact }));
      return { ...overlay, ownerFacts: withEntry(overlay.ownerFacts, id, ...entries) };
    },
    write: async (tx, version) => {
      const rows = facts.map((fact) => ({ dataset, entity_id: id, claim_id: 'claim', version, ...fact }));
      await tx.insertInto('owner_facts').values(rows).execute();
    },
  });
}
