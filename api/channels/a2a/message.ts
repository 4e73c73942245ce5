// Parses the body of SendMessage: skill or text, and the accepted output modes (A2A 1.0 sections 4.1 and 11).
import {
  RestContentTypeNotSupportedError,
  RestTaskNotFoundError,
  RestVersionNotSupportedError,
} from '@a2a-js/sdk/errors';
import { ApiError } from '../../contract/errors.ts';

/** A parsed message: a skill with its arguments, or text. */
export interface ParsedMessage {
  skill: { name: string; args: Record<string, unknown> } | null;
  text: string;
  /** The message's conversation; a new id if it has none. */
  contextId: string;
  /** Parts of the reply. */
  wants: { text: boolean; data: boolean };
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function invalid(field: string, msg: string): ApiError {
  return new ApiError('validation_failed', `${field}: ${msg}`, {
    detail: [{ loc: ['body', field], msg, type: 'value_error' }],
  });
}

/** Rejects unsupported versions. A missing version means an older protocol in A2A 1.0; it is accepted. */
export function checkVersion(version: string | undefined): void {
  if (version === undefined || version === '' || /^1\.0(\.\d+)?$/.test(version)) return;
  const message = `A2A ${version.slice(0, 20)} is not spoken here, only 1.0.`;
  throw new RestVersionNotSupportedError({ message, metadata: { supported: '1.0' } });
}

/** Reads the body of SendMessage. Unknown members are ignored, as in ProtoJSON. */
export function readMessage(body: unknown): ParsedMessage {
  if (!isObject(body)) throw invalid('body', 'must be a JSON object with a message');
  const { message, configuration } = body;
  if (!isObject(message)) throw invalid('message', 'is required');
  if (message['role'] !== undefined && !['ROLE_USER', 'user', 1].includes(message['role'] as string))
    throw invalid('message.role', 'must be ROLE_USER');
  const { taskId, contextId, parts } = message;
  if (typeof taskId === 'string' && taskId !== '')
    throw new RestTaskNotFoundError({
      message: 'This agent has no tasks.',
      metadata: { taskId: taskId.slice(0, 100) },
    });
  if (!Array.isArray(parts) || parts.length === 0)
    throw invalid('message.parts', 'must have a data part or a text part');
  const read = parts.map(readPart);
  const data = read.filter((part) => part.data !== undefined);
  if (data.length > 1) throw invalid('message.parts', 'must have at most one data part');
  const [call] = data;
  return {
    skill: call ? skillIn(call.data) : null,
    text: read.flatMap(({ text }) => text ?? []).join('\n'),
    contextId: typeof contextId === 'string' && contextId !== '' ? contextId.slice(0, 200) : crypto.randomUUID(),
    wants: acceptedParts(isObject(configuration) ? configuration['acceptedOutputModes'] : undefined),
  };
}

/** Members of a part, of which it has one (A2A 1.0 section 4.1.6). */
const CONTENTS = ['text', 'data', 'raw', 'url'];

function readPart(part: unknown, index: number): { text?: string; data?: unknown } {
  const field = `message.parts[${index}]`;
  if (!isObject(part)) throw invalid(field, 'must be an object');
  if (CONTENTS.filter((name) => part[name] !== undefined).length > 1)
    throw invalid(field, `must have only one of ${CONTENTS.join(', ')}`);
  if (typeof part['text'] === 'string') return { text: part['text'] };
  if (part['data'] !== undefined) return { data: part['data'] };
  if (part['raw'] !== undefined || part['url'] !== undefined)
    throw new RestContentTypeNotSupportedError({
      message: `${field}: files are not read here; send a data part or a text part.`,
    });
  throw invalid(field, 'must have text or data');
}

function skillIn(data: unknown): NonNullable<ParsedMessage['skill']> {
  if (!isObject(data)) throw invalid('message.parts.data', 'must be an object {"skill": …, …arguments}');
  const { skill, ...args } = data;
  if (typeof skill !== 'string') throw invalid('message.parts.data.skill', 'must name a skill of the agent card');
  return { name: skill, args };
}

/** Parts that the client accepts; without output modes, all of them. */
function acceptedParts(modes: unknown): ParsedMessage['wants'] {
  const types = Array.isArray(modes) ? modes.filter((mode) => typeof mode === 'string') : [];
  if (types.length === 0 || types.includes('*/*')) return { text: true, data: true };
  const text = types.some((mode) => mode.startsWith('text/'));
  const data = types.some((mode) => mode.startsWith('application/json'));
  return text || data ? { text, data } : { text: true, data: true };
}
