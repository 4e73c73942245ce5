// `GET /.well-known/agent-card.json`: the agent card, signed (A2A 1.0 section 8.4).

import { generateAgentCardSignature } from '@a2a-js/sdk';
import { derive } from '../../../packs/define/derive.ts';
import { agentCard } from '../../discovery/agent-card.ts';
import { etagOf } from '../../http/conditions.ts';
import type { Route } from '../../http/server.ts';
import type { ToolList } from '../../render/tools.ts';
import type { RestDeps } from '../rest/rest.ts';

/** A private key as a JWK (RFC 7517). */
export interface CardKey {
  kid: string;
  alg: 'ES256';
  [member: string]: unknown;
}

export interface CardDeps extends RestDeps {
  /** Signing key; absent: the card is not signed, as in a benchmark. */
  cardKey?: (() => Promise<CardKey>) | undefined;
}

/** Cache lifetime of the card, in seconds. */
const KEEP = 3600;

/** The route of the card. It is signed once per content and key. */
export function cardRoute(deps: CardDeps, tools: ToolList): Route {
  let signed: { tag: string; document: string } | null = null;
  const answer = async () => {
    const { card, text } = await currentCard(deps, tools);
    const key = await deps.cardKey?.();
    // ECDSA signatures differ each time, so the tag is computed from the signed content.
    const tag = etagOf(text + (key?.kid ?? ''));
    if (signed?.tag !== tag)
      signed = { tag, document: key ? JSON.stringify(await sign(card, key, deps.gate.base_url)) : text };
    return { ...signed, type: 'application/json' };
  };
  return { bucket: null, caching: `public, max-age=${KEEP}`, failure: () => undefined, answer };
}

type Card = ReturnType<typeof agentCard>;

/** The card of the current releases and its JSON, built once for each list of tools. */
async function currentCard({ gate }: CardDeps, tools: ToolList): Promise<{ card: Card; text: string }> {
  const leases = await gate.lease(null);
  const packs = leases.releases.map(({ pack }) => pack);
  leases.done();
  const list = await tools(packs);
  return derive(list, 'agent card', () => {
    const card = agentCard(gate.base_url, packs, list);
    return { card, text: JSON.stringify(card) };
  });
}

/** JWS over the canonical form (RFC 8785) of the card; `jku` is the address of the public key. */
async function sign(card: Card, key: CardKey, base_url: string): Promise<unknown> {
  const { kid, alg } = key;
  const signer = generateAgentCardSignature(key, { alg, kid, typ: 'JOSE', jku: `${base_url}/oauth/jwks.json` });
  // The signer reads the protocol's JSON, although its parameter has the type of the decoded message.
  return signer({ ...card, signatures: [] } as unknown as Parameters<typeof signer>[0]);
}
