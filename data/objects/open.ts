// Opens object storage by its address.
import { fileURLToPath } from 'node:url';
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
