// The signature of a release is the file `manifest.jws`: a JWS with detached content, the bytes of `manifest.json`
// (RFC 7515, appendix F).
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { base64url, CompactSign, compactVerify, createLocalJWKSet, importJWK } from 'jose';
import { paths, RELEASE_FILES } from '../model/layout.ts';
import { currentRelease } from '../model/manifest.ts';
import { publicReleaseKey, releaseKeys } from '../state/keys/release-keys.ts';
import type { Store } from '../state/store.ts';

/** Signs the bytes of a manifest with the newest key of the store; returns `<header>..<signature>`. */
export async function signManifest(store: Store, manifest: string): Promise<string> {
  const [key] = await releaseKeys(store, Date.now());
  const jws = await new CompactSign(Buffer.from(manifest))
    .setProtectedHeader({ alg: 'EdDSA', kid: key.kid })
    .sign(await importJWK(key, 'EdDSA'));
  const [header, , signature] = jws.split('.');
  return `${header}..${signature}`;
}

/**
 * Throws unless the manifest in a folder was signed by a key of the store. A release of an earlier version of the program
 * has no signature; it is accepted while DATA_DIR has no signed release of the dataset.
 */
export async function verifySignature(store: Store, folder: string, { dataDir, dataset }: ReleasePlace): Promise<void> {
  const manifest = await readFile(join(folder, RELEASE_FILES.manifest));
  const jws = await readFile(join(folder, RELEASE_FILES.signature), 'utf8').catch(() => null);
  if (jws === null) {
    if (await hasSigned(dataDir, dataset))
      throw new Error(`the release of ${dataset} is not signed, and the current one is; the current one stays`);
    return;
  }
  const [header, , signature] = jws.trim().split('.');
  const keys = (await releaseKeys(store, Date.now())).map(publicReleaseKey);
  await compactVerify(`${header}.${base64url.encode(manifest)}.${signature}`, createLocalJWKSet({ keys }), {
    algorithms: ['EdDSA'],
  }).catch((error: Error) => {
    throw new Error(
      `the manifest of ${dataset} does not have the signature of ${RELEASE_FILES.signature}: ${error.message}`,
    );
  });
}

/** A dataset and the folder that has its releases. */
interface ReleasePlace {
  dataDir: string;
  dataset: string;
}

async function hasSigned(dataDir: string, dataset: string): Promise<boolean> {
  const current = await currentRelease(dataDir, dataset).catch(() => null);
  if (current === null) return false;
  return existsSync(join(paths.release(dataDir, dataset, current), RELEASE_FILES.signature));
}
