// An answer sent from the file that the nightly build made of it, or from that file's compressed copy.

import type { RenderedFile } from '../../contract/operation.ts';
import type { Gate } from '../../gate/gate.ts';
import { copiesOf, taken } from '../../http/compressed-copies.ts';
import { findFile, openFile } from '../../http/files.ts';
import { isPublished } from '../../http/fresh.ts';
import { OpenFile } from '../../http/open-files.ts';
import type { Headers, Reply } from '../../http/respond.ts';

/**
 * The body of a file and the headers that go with it; null where the file is missing, was made of another release, overlay, program or BASE_URL,
 * or is being replaced. Without a copy in a coding that the client takes it is sent as it is.
 */
export async function openRendered(
  root: string,
  { path, release }: RenderedFile,
  gate: Gate,
  accepts: string | undefined,
): Promise<{ body: Reply['body']; headers: Headers } | null> {
  const file = await findFile(root, `/${path}`);
  if (file === null || !(await isPublished(root, release, gate, file.last_modified))) return null;
  const copy = taken(await copiesOf(file), accepts);
  const opened = await openFile(file, copy);
  if (!(opened instanceof OpenFile)) return null;
  const { bytes } = copy ?? file;
  const headers: Headers = { 'Content-Length': String(bytes) };
  if (copy !== null) headers['Content-Encoding'] = copy.coding;
  return { body: await opened.body(0, bytes - 1), headers };
}
