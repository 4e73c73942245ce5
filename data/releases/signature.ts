// The signature of a release is the file `manifest.jws`: a JWS with detached content, the bytes of `manifest.json`
// (RFC 7515, appendix F).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { base64url, CompactSign, compactVerify, createLocalJWKSet, importJWK } from 'jose';
import { RELEASE_FILES } from '../model/layout.ts';
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

/** Throws unless the manifest in a folder was signed by a key of the store. */
export async function verifySignature(store: Store, folder: string, dataset: string): Promise<void> {
  const manifest = await readFile(join(folder, RELEASE_FILES.manifest));
  const jws = await readFile(join(folder, RELEASE_FILES.signature), 'utf8').catch(() => null);
  if (jws === null) throw new Error(`the release of ${dataset} has no signature (${RELEASE_FILES.signature})`);
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
