// MCP resources: the guide of each dataset and the public page of each record, as free texts, and the view of tools.
import { readFileSync } from 'node:fs';
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { ERRORS } from '../../contract/errors.ts';
import type { Operation } from '../../contract/operation.ts';
import { IDENTITY } from '../../discovery/identity.ts';
import { admit, type Call } from '../../gate/execute.ts';
import { OPERATIONS, PAGE_OPERATIONS } from '../../operations/table.ts';
import { namedCall } from '../named-call.ts';
import { refusalOf, runCall, type Session } from './session.ts';

/** Operations with a free text and a resource address. */
export const RESOURCES: readonly Operation[] = [...OPERATIONS, ...Object.values(PAGE_OPERATIONS)].filter(
  ({ tool }) => tool?.resource,
);

/** Operation and arguments of a resource URI; null for an unknown URI. */
export function resourceAt(uri: string): { operation: Operation; args: Record<string, string> } | null {
  for (const operation of RESOURCES) {
    const names = [...(operation.tool?.resource ?? '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const pattern = (operation.tool?.resource ?? '').replaceAll('.', '\\.').replace(/\{\w+\}/g, '([^/?#]+)');
    const match = new RegExp(`^${pattern}$`).exec(uri);
    if (!match) continue;
    try {
      const values = match.slice(1).map(decodeURIComponent);
      return { operation, args: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])) };
    } catch {
      return null;
    }
  }
  return null;
}

const MARKDOWN = 'text/markdown';

/** The view of records and comparisons for hosts with MCP Apps (SEP-1865). */
export const APP = {
  uri: 'ui://dataset-register/record',
  name: 'record view',
  title: 'Record with sources',
  description: 'Shows a record with the source of each value, or a comparison.',
  mimeType: 'text/html;profile=mcp-app',
} as const;
const APP_HTML = readFileSync(new URL('app.html', import.meta.url), 'utf8').replace('{version}', IDENTITY.version);

/** Datasets in the scope of the address. */
function datasetsOf({ scope }: Session): string[] {
  const all = [...scope.tools.values()].flatMap(({ dataset }) => dataset ?? []);
  return [...(scope.datasets ?? new Set(all))];
}

/** resources/list: `service://tools/llms.txt` and others with a dataset as their only parameter. */
export function listResources(session: Session) {
  const fixed = RESOURCES.filter(({ tool }) => tool?.resource?.replace('{dataset}', '').includes('{') === false);
  return {
    resources: [
      ...fixed.flatMap(({ tool: { resource = '' } = {}, title, description }) =>
        datasetsOf(session).map((dataset) => ({
          uri: resource.replace('{dataset}', encodeURIComponent(dataset)),
          name: `${dataset} guide`,
          title: `${title}: ${dataset}`,
          description,
          mimeType: MARKDOWN,
        })),
      ),
      APP,
    ],
  };
}

/** resources/templates/list: the URIs with parameters. */
export function listTemplates(_session: Session) {
  return {
    resourceTemplates: RESOURCES.map(({ tool: { resource = '' } = {}, name, title, description }) => ({
      uriTemplate: resource.replace('{entity_id}', '{id}'),
      name,
      title,
      description,
      mimeType: MARKDOWN,
    })),
  };
}

/**
 * resources/read, through the gate. Not found is the protocol's error; other errors have our error body as
 * data.
 */
export async function readResource(session: Session, uri: string) {
  if (uri === APP.uri) {
    await admit(session.gate, session.request.visitor, 'free');
    return { contents: [{ uri, mimeType: APP.mimeType, text: APP_HTML }] };
  }
  const resource = resourceAt(uri);
  if (!resource) throw new ResourceNotFoundError(uri);
  let call: Call | null = null;
  try {
    const input = { channel: 'mcp' as const, operation: resource.operation, args: resource.args, dataset: null };
    call = namedCall(session.gate, session.c, session.request, input);
    const { answer } = await runCall(session, call);
    return { contents: [{ uri, mimeType: MARKDOWN, text: answer.text ?? answer.json }] };
  } catch (thrown) {
    const { error, body } = refusalOf(session, thrown, call);
    if (ERRORS[error.code].status === 404) throw new ResourceNotFoundError(uri);
    throw new ProtocolError(ProtocolErrorCode.InternalError, error.message, body);
  }
}
