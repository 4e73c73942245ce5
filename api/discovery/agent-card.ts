// The A2A agent card, unsigned: identity, address and skills of the agent (A2A 1.0 section 8).
import type { Pack } from '../../packs/define/model.ts';
import type { Tool } from '../render/tools.ts';
import { IDENTITY } from './identity.ts';

/** Path of the interface; the protocol appends `/message:send`. */
export const A2A_PATH = '/a2a/v1';

/** Media types of messages and replies. */
const MODES = { input: ['application/json', 'text/plain'], output: ['application/json', 'text/markdown'] };

/** The card of the current datasets, in the protocol's JSON. Skills are the operations, with their prices. */
export function agentCard(base_url: string, packs: readonly Pack[], tools: readonly Tool[]) {
  const skills = tools.filter(({ dataset }) => dataset === null);
  return inAscii({
    name: IDENTITY.title,
    description: `Answers questions about datasets of typed records, with source, time and confidence of every value. Send a data part {"skill": ..., ...arguments}, or a question about the available datasets. ${datasets(packs)}`,
    supportedInterfaces: [
      { url: `${base_url}${A2A_PATH}`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: '' },
    ],
    provider: { url: `${base_url}/`, organization: IDENTITY.title },
    version: IDENTITY.version,
    documentationUrl: `${base_url}/llms.txt`,
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
    securitySchemes: {
      apiKey: {
        apiKeySecurityScheme: {
          location: 'header',
          name: 'X-API-Key',
          description: `POST ${base_url}/v1/keys creates one`,
        },
      },
      bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', description: 'An API key' } },
      oauth: {
        oauth2SecurityScheme: {
          oauth2MetadataUrl: `${base_url}/.well-known/oauth-authorization-server`,
          flows: {
            authorizationCode: {
              authorizationUrl: `${base_url}/oauth/authorize`,
              tokenUrl: `${base_url}/oauth/token`,
              scopes: { read: 'Call operations and spend from the key' },
              pkceRequired: true,
            },
          },
        },
      },
    },
    // Free skills need none; for the others, any one of these is enough.
    securityRequirements: [
      { schemes: {} },
      { schemes: { apiKey: { list: [] } } },
      { schemes: { bearer: { list: [] } } },
      { schemes: { oauth: { list: ['read'] } } },
    ],
    defaultInputModes: MODES.input,
    defaultOutputModes: MODES.output,
    skills: skills.map((tool) => skill(tool, packs)),
  });
}

/**
 * The card with its texts in ASCII: some verifiers escape other characters when they canonicalise, and would
 * reject the signature. Letters lose their diacritics; characters without an ASCII form become a question
 * mark.
 */
function inAscii<T>(value: T): T {
  if (typeof value === 'string') return ascii(value) as T;
  if (Array.isArray(value)) return value.map(inAscii) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inAscii(member)])) as T;
}

const MARKS: Record<string, string> = { '…': '...', '’': "'", '‘': "'", '“': '"', '”': '"', '–': '-', '—': '-' };

const ascii = (text: string): string =>
  text
    .replace(/[…’‘“”–—]/g, (mark) => MARKS[mark] ?? mark)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e\n]/g, '?');

function datasets(packs: readonly Pack[]): string {
  return packs.length === 0 ? '' : `Datasets: ${packs.map(({ id, title }) => `${id} (${title})`).join(', ')}.`;
}

function skill({ name, title, description, operation }: Tool, packs: readonly Pack[]) {
  const example = exampleOf(name, operation, packs[0]);
  return {
    id: name,
    name: title,
    description,
    tags: [operation.docs.group, operation.charge.access],
    ...(example ? { examples: [JSON.stringify(example)] } : {}),
  };
}

/** A data part that calls a skill, if its example needs no record by name. */
function exampleOf(skill: string, { docs: { example }, rest }: Tool['operation'], pack: Pack | undefined) {
  const dataset = rest.path.includes(':ds');
  if (!example || (dataset && !pack) || rest.path.includes(':entity_id')) return null;
  const input = example(pack as Pack, ['<slug>', '<slug>']);
  return input && { skill, ...(dataset ? { dataset: pack?.id } : {}), ...input };
}
