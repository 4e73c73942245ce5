// The files that operations declare in `prerender`: answers given early, by the very operation and rendering of the live API.

import type { Operation } from '../../api/contract/operation.ts';
import { earlyContext } from '../../api/discovery/early.ts';
import { render } from '../../api/render/render.ts';
import type { Release } from '../../data/releases/release.ts';
import type { Output } from './output.ts';

export interface Answering {
  /** The dataset to answer for; absent: the register as a whole. */
  release?: Release;
  releases: Release[];
  base: string;
  eur_usd: number;
  operations: readonly Operation[];
  /** Names what the files are made from. */
  key: string;
}

/** Writes every file that the table declares for a dataset, or for the register. What comes as a stream is left to pages.ts. */
export async function writeAnswers(answering: Answering, output: Output): Promise<void> {
  const { release, operations, key, base } = answering;
  for (const operation of operations) {
    for (const { file, input, format } of operation.prerender?.(release?.pack ?? null) ?? []) {
      const ctx = earlyContext({ ...answering, base_url: base }, { release, path: `/${file}`, format });
      const result = await operation.run(operation.parse(input, ctx), ctx);
      const { body } = await render(operation, result, ctx);
      if (body instanceof Uint8Array) output.write(file, Buffer.from(body).toString(), key);
      else if (typeof body === 'string') output.write(file, body, key);
    }
  }
}
