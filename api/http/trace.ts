// The span of each request of the server.
import type { RequestListener } from 'node:http';
import type { Tracing } from '../../data/model/tracing.ts';
import { loggedPath, withoutQuery } from './log.ts';

/** The listener, whose requests run in spans of their own. */
export function traceRequests(listener: RequestListener, tracing: Tracing): RequestListener {
  return (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const request = { method, path: loggedPath(withoutQuery(url)), headers };
    const end = tracing.serve(request, () => void listener(incoming, outgoing));
    outgoing.once('close', () => end(outgoing.statusCode, outgoing.writableFinished));
  };
}
