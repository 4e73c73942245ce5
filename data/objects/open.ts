// Opens object storage by its address.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../config.ts';
import { paths } from '../model/layout.ts';
import type { ObjectStorage, StorageSettings } from './objects.ts';

/**
 * Opens `s3://bucket/prefix` or `file:///folder`. Nothing is read yet.
 *
 * @example
 *   const storage = await openStorage('s3://register/releases', { scratch });
 *   await storage.put('objects/ab/ab…', { file: '/data/records.parquet', bytes: 1024, sha256: 'ab…' });
 */
export async function openStorage(url: string, settings: StorageSettings): Promise<ObjectStorage> {
  const { protocol, hostname, pathname } = new URL(url);
  if (protocol === 'file:') return (await import('./folder.ts')).folderStorage(fileURLToPath(url));
  const prefix = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, '');
  // The SDK takes 150 ms to load, which processes without object storage should not pay.
  return (await import('./bucket.ts')).bucketStorage({ bucket: hostname, prefix, ...settings });
}

/** Opens the object storage of RELEASES_URL; null when it is not set. */
export async function storageOf(config: Config): Promise<ObjectStorage | null> {
  const { RELEASES_URL: url, S3_ENDPOINT: endpoint, S3_REGION: region, DATA_DIR } = config;
  if (url === undefined) return null;
  return openStorage(url, { endpoint, region, scratch: join(paths.transfers(DATA_DIR), 'uploads') });
}
