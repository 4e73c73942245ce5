// Sends requests to a register at an address, as REST, MCP and A2A clients do.
import type { Ask } from './world.ts';

/** The last line of an event stream, or the whole body. */
const json = (text: string): Record<string, unknown> => {
  try {
    return JSON.parse(text.replace(/^(?:event: \w+\n)?data: /u, '')) as Record<string, unknown>;
  } catch {
    return { message: text };
  }
};

/** Sends requests below `base` with a key. */
export function requester(base: string, key: string): Ask {
  const headers = { Authorization: `Bearer ${key}` };
  const post = {
    ...headers,
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
    'MCP-Protocol-Version': '2025-11-25',
  };
  return async (path, body) => {
    const init = body === undefined ? { headers } : { method: 'POST', headers: post, body: JSON.stringify(body) };
    const response = await fetch(`${base}${path}`, init);
    return { status: response.status, body: json(await response.text()) };
  };
}
