// The A2A client of the SDK over HTTP+JSON, configured by the agent card.
import { type AgentCard, type Message, type Part, Role } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  RestTransportFactory,
} from '@a2a-js/sdk/client';

export interface A2aClient {
  card: AgentCard;
  /** Sends one part: a data part, or a text. */
  send(
    part: Record<string, unknown> | string,
    modes?: string[],
  ): Promise<{ message: Message; text: string; data: Record<string, unknown> }>;
}

type Fetch = typeof fetch;

/**
 * A client for the agent at an address; `headers` are sent with each request. Tests override the address in
 * the card.
 */
export async function a2aClient(base: string, headers: Record<string, string> = {}): Promise<A2aClient> {
  const fetchImpl: Fetch = (input, init) =>
    fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers } });
  const card = await new DefaultAgentCardResolver({ fetchImpl }).resolve(base);
  const here = {
    ...card,
    supportedInterfaces: card.supportedInterfaces.map((each) => ({
      ...each,
      url: `${base}${new URL(each.url).pathname}`,
    })),
  };
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new RestTransportFactory({ fetchImpl })],
    }),
  );
  const client: Client = await factory.createFromAgentCard(here);
  return {
    card,
    async send(part, modes = []) {
      const content: Part['content'] =
        typeof part === 'string' ? { $case: 'text', value: part } : { $case: 'data', value: part };
      const sent = await client.sendMessage({
        tenant: '',
        metadata: undefined,
        configuration: { acceptedOutputModes: modes, taskPushNotificationConfig: undefined, returnImmediately: false },
        message: {
          messageId: crypto.randomUUID(),
          contextId: 'the conversation',
          taskId: '',
          role: Role.ROLE_USER,
          parts: [{ content, metadata: undefined, filename: '', mediaType: '' }],
          metadata: undefined,
          extensions: [],
          referenceTaskIds: [],
        },
      });
      const message = sent as Message;
      const value = (kind: string) => message.parts.find((each) => each.content?.$case === kind)?.content?.value;
      return { message, text: String(value('text') ?? ''), data: (value('data') ?? {}) as Record<string, unknown> };
    },
  };
}
