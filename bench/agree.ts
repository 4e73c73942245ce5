// Whether the peers give the same answers as the service, since a faster different answer would prove
// nothing.
import { type BenchServer, requestOnce } from './measure.ts';
import { type BenchQuestion, gistOf } from './questions.ts';

/** Paths compared for each question. */
const COMPARED = 40;

/** Number of equal answers, and the first different one. */
export interface Agreement {
  compared: number;
  equal: number;
  first?: string;
}

/** Sends the same requests to the service and one peer. */
export async function agreement(question: BenchQuestion, service: BenchServer, peer: BenchServer): Promise<Agreement> {
  const paths = service.paths.slice(0, COMPARED);
  const found: Agreement = { compared: paths.length, equal: 0 };
  for (const [i, path] of paths.entries()) {
    const [ours, theirs] = await Promise.all([requestOnce(service, path), requestOnce(peer, peer.paths[i] ?? '/')]);
    const [a, b] = [ours, theirs].map((body) => JSON.stringify(gistOf(question.gist, JSON.parse(body.toString()))));
    if (a === b) found.equal += 1;
    else found.first ??= `${path}\n  ${a?.slice(0, 300)}\n  ${b?.slice(0, 300)}`;
  }
  return found;
}
