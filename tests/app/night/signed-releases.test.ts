// Signed releases: a machine that downloads one verifies its manifest with the keys of the store.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { base64url, compactVerify, importJWK } from 'jose';
import { describe, expect, test } from 'vitest';
import { datasetNight } from '../../../build/night/dataset.ts';
import { paths } from '../../../data/model/layout.ts';
import { currentRelease, readManifest } from '../../../data/model/manifest.ts';
import { upload } from '../../../data/objects/listing.ts';
import { openStorage } from '../../../data/objects/open.ts';
import { fetchRelease, releaseListing } from '../../../data/releases/remote.ts';
import { signManifest } from '../../../data/releases/signature.ts';
import { publicReleaseKey, releaseKeys, rotateReleaseKeys } from '../../../data/state/keys/release-keys.ts';
import type { Store } from '../../../data/state/store.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { scratch, still } from '../../support/night-pack.ts';
import { describeStores } from '../../support/stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('release.signature');

const PACK = join(import.meta.dirname, '../../packs/tools');

/** A signed release, and storage that has what `change` leaves of it. */
async function published(store: Store, change: (folder: string) => void = () => {}) {
  const dataDir = scratch();
  const publication = { sign: (manifest: string) => signManifest(store, manifest) };
  const night = await datasetNight(await loadPack(PACK), dataDir, still(), { accept: true, publication });
  const release = night.release!;
  const folder = paths.release(dataDir, 'tools', release);
  change(folder);
  const storage = await openStorage(pathToFileURL(scratch()).href, { endpoint: undefined, scratch: scratch() });
  const listing = await releaseListing(dataDir, 'tools', release);
  const { name } = await upload(storage, listing, (path) => join(folder, path), scratch());
  const manifest = listing.files.get('manifest.json')!.sha256;
  const fetchTo = (to: string, digest = manifest) =>
    fetchRelease({ storage, dataDir: to, store }, 'tools', { release, listing: name, manifest: digest });
  return { release, folder, fetchTo };
}

const changeManifest = (folder: string) => {
  const path = join(folder, 'manifest.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"created_at": "2', '"created_at": "3'));
};

describeStores('signed releases', (under) => {
  describe('a machine', () => {
    test('takes a release whose manifest is signed, also after the key was replaced', async () => {
      const store = await under.open();
      const { folder, release, fetchTo } = await published(store);
      const [key] = await releaseKeys(store, 0);
      const manifest = readFileSync(join(folder, 'manifest.json'));
      const [header, between, signature] = readFileSync(join(folder, 'manifest.jws'), 'utf8').trim().split('.');
      expect(between).toBe('');
      // As a reader does, with the public key of the directory.
      const { protectedHeader } = await compactVerify(
        `${header}.${base64url.encode(manifest)}.${signature}`,
        await importJWK(publicReleaseKey(key), 'EdDSA'),
      );
      expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: key.kid });
      await rotateReleaseKeys(store, Date.now());
      const to = scratch();
      expect(await fetchTo(to)).toMatchObject({ present: 0 });
      expect((await readManifest(paths.release(to, 'tools', release))).release).toBe(release);
    });

    test('refuses a changed manifest, and one that another store signed', async () => {
      const [store, other] = [await under.open(), await under.open()];
      const changed = await published(store, changeManifest);
      await expect(changed.fetchTo(scratch())).rejects.toThrow(
        'the manifest of tools does not have the signature of manifest.jws: signature verification failed',
      );
      const foreign = 'eyJhbGciOiJFZERTQSIsImtpZCI6IngifQ..AAAA';
      const signed = await published(other, (folder) => writeFileSync(join(folder, 'manifest.jws'), foreign));
      await expect(signed.fetchTo(scratch())).rejects.toThrow('does not have the signature of manifest.jws');
    });

    test('refuses a release without a signature or with another digest than the store has, also as its first one', async () => {
      const store = await under.open();
      const unsigned = await published(store, (folder) => rmSync(join(folder, 'manifest.jws')));
      const to = scratch();
      await expect(unsigned.fetchTo(to)).rejects.toThrow('the release of tools has no signature (manifest.jws)');
      const signed = await published(store);
      await expect(signed.fetchTo(to, '0'.repeat(64))).rejects.toThrow('is not the one that the store names');
      expect(await currentRelease(to, 'tools')).toBeNull();
      expect(await signed.fetchTo(to)).not.toBeNull();
    });
  });
});
