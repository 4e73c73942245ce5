// The whole fleet: services, three API processes behind a balancer, two machines for the night, a chain, a mail server
// and a receiver of webhooks; and what happens to it all the time: releases and opt-outs.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { noChain, ROLES, startChain } from '../chain/chain.ts';
import { startFacilitator } from '../chain/facilitator.ts';
import { faultyProxy } from '../support/faulty-proxy.ts';
import { type MailServer, mailServer } from '../support/mail-server.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { send } from './calls.ts';
import { domainOf, RECORDS, slugOf, writePack, writeRelease } from './dataset.ts';
import { KEYS, Load } from './load.ts';
import { freePorts, type Node, openNetwork, openNode, openRunner, type Runner, removeFolder } from './machines.ts';
import { killAll, type Program, until } from './programs.ts';
import { openServices, type Services } from './services.ts';

export interface WorldOptions {
  /** Without network namespaces and disks of its own. */
  plain: boolean;
}

/** An opt-out that was answered. */
export interface Removal {
  record: number;
  /** When it was answered, as `performance.now()`. */
  at: number;
}

export interface World {
  root: string;
  services: Services;
  nodes: readonly [Node, Node, Node];
  runners: readonly [Runner, Runner];
  balancer: Balancer;
  load: Load;
  mail: MailServer;
  receiver: Receiver;
  adminKey: string;
  /** How machines are separated, for the report. */
  described: string[];
  /** Number and id of the newest release, and when it was published. */
  release: { number: number; id: string; at: number };
  /** Numbers of the releases that were published after the subscription was confirmed. */
  announced: number[];
  removals: Removal[];
  /**
   * Builds and publishes the next release; tries again for two minutes. `together`: both runners start at once.
   * `disturb`: happens to a night, whose end is not awaited then; false: the night was over before.
   */
  publish(options?: {
    together?: boolean;
    disturb?: ((night: Program) => Promise<boolean>) | undefined;
  }): Promise<void>;
  /** Nights that failed, and the reason of each. */
  failedNights: string[];
  /** Sends an opt-out until it is answered. */
  optOut(): Promise<Removal>;
  ready(): Promise<void>;
  end(): Promise<void>;
}

const json = async (response: Response): Promise<Record<string, unknown>> => {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
};

/** Makes keys of the plan scale, with credit. */
async function makeKeys(origin: string, adminKey: string, count: number): Promise<string[]> {
  const post = (path: string, body: object, headers: Record<string, string>) =>
    fetch(origin + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }).then(json);
  const keys: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const email = `client-${index}@agents.example`;
    const made = await post('/v1/keys', { email }, { 'X-Forwarded-For': `198.18.200.${index}` });
    const grant = { key_id: made['id'], amount_eur: 1_000, plan: 'scale' };
    await post('/v1/keys/grant', grant, { Authorization: `Bearer ${adminKey}` });
    keys.push(String(made['key']));
  }
  return keys;
}

/** Starts everything; the first release is served by all processes. */
export async function openWorld({ plain }: WorldOptions): Promise<World> {
  const root = mkdtempSync(join(tmpdir(), 'fleet-'));
  const packs = join(root, 'packs');
  writePack(packs);
  const services = await openServices(root);
  const network = plain ? null : openNetwork();
  const mail = await mailServer();
  const receiver = await startReceiver();
  const receiverPort = Number(receiver.host.split(':')[1]);
  const receiverProxy = network && (await faultyProxy(receiverPort, { address: network.host }));
  const receiverHost = receiverProxy ? `${network.host}:${receiverProxy.port}` : receiver.host;
  const paysOnChain = noChain() === null;
  const chain = paysOnChain ? await startChain() : null;
  const facilitator = chain && (await startFacilitator(chain.url));
  const adminKey = randomBytes(24).toString('hex');
  const ports = await freePorts(3);
  const addresses = ports.map((port, index) => `${index === 2 && network ? network.machine : '127.0.0.1'}:${port}`);
  // The address of the balancer is known once it listens; it lists no process as ready before they are.
  const balancer = await startBalancer(join(root, 'balancer'), () => addresses);
  const env = {
    BASE_URL: balancer.origin,
    PACK_DIRS: packs,
    ADMIN_KEYS: adminKey,
    TRUST_PROXY: '2',
    DRAIN_SECONDS: '3',
    SQL_MEMORY: '128MB',
    SMTP_URL: mail.url,
    FLEET_RECEIVER: receiverHost,
    ...(chain && facilitator
      ? { X402_PAY_TO: ROLES.merchant.address, X402_FACILITATOR_URL: facilitator.url, X402_RPC_URL: chain.url }
      : {}),
  };
  const runners = [
    await openRunner('runner A', { root, services, env }),
    await openRunner('runner B', { root, services, env }),
  ] as const;

  const nodes: Node[] = [];
  for (const [index, port] of ports.entries()) {
    const own = { network: index === 2 ? network : null, disk: index === 2 && !plain };
    nodes.push(await openNode({ name: `node ${index + 1}`, root, services, env, port, ...own }));
  }
  let turn = 0;

  const world: World = {
    root,
    services,
    nodes: nodes as unknown as World['nodes'],
    runners,
    balancer,
    load: new Load({ origin: balancer.origin, keys: [], paysOnChain }),
    mail,
    receiver,
    adminKey,
    described: [
      `balancer: ${balancer.described}`,
      services.described,
      network
        ? 'node 3 is in a network namespace, connected by one link; a partition takes that link down'
        : 'no network namespaces: a partition is a TCP proxy between node 3 and the services that passes nothing on',
      nodes[2]?.hasDisk ? 'DATA_DIR of node 3 is a tmpfs of 96 MB' : 'node 3 has no disk of its own',
      paysOnChain ? 'x402 on a local chain (anvil)' : 'no chain on this machine: no x402',
    ],
    release: { number: 0, id: '', at: 0 },
    announced: [],
    removals: [],
    failedNights: [],
    async publish({ together = false, disturb } = {}) {
      const number = world.release.number + 1;
      writeRelease(packs, number);
      let published: { id: string; at: number } | null = null;
      /** Waits for the end of a night, and notes when it published. */
      const watch = async (program: Program) => {
        const code = program.exitCode();
        const ended = code.then(() => true);
        for (let isOver = false; !isOver; ) {
          isOver = await Promise.race([ended, sleep(100, false)]);
          const id = /release ([0-9a-f]{16}) published to/.exec(program.output())?.[1];
          if (id !== undefined) published ??= { id, at: performance.now() };
        }
        return code;
      };
      let isDisturbed = disturb === undefined;
      for (let attempt = 0; published === null; attempt += 1) {
        if (attempt > 50) throw new Error(`release ${number} is not published: ${world.failedNights.at(-1)}`);
        const nights = (together ? runners : [runners[turn++ % 2]!]).map((runner) => ({
          runner,
          program: runner.night(),
        }));
        if (!isDisturbed && disturb) {
          isDisturbed = await disturb(nights[0]!.program);
          continue;
        }
        const codes = await Promise.all(nights.map(({ program }) => watch(program)));
        for (const [index, code] of codes.entries()) {
          const { runner, program } = nights[index]!;
          if (code === 0) continue;
          const lines = program.output().trim().split('\n');
          const reason = lines.findLast((line) => line.startsWith('!') || /in progress/.test(line)) ?? lines.at(-1);
          world.failedNights.push(`${runner.name}: exit ${code}: ${reason}`);
        }
        if (published === null) await sleep(1_500);
      }
      const { id, at } = published as { id: string; at: number };
      const problem = world.load.expected.name(id, number);
      if (problem !== null) throw new Error(problem);
      world.release = { number, id, at };
      world.announced.push(number);
    },
    async optOut() {
      const record = RECORDS - 1 - world.removals.length;
      const body = { dataset: 'parts', entity_id: slugOf(record), contact: `office@${domainOf(record)}` };
      const began = performance.now();
      world.load.expected.removals.set(record, { at: began, by: Number.POSITIVE_INFINITY });
      const headers = { 'X-Forwarded-For': `198.18.201.${record}`, 'Idempotency-Key': randomBytes(16).toString('hex') };
      for (let attempt = 0; attempt < 120; attempt += 1) {
        const { call, text } = await send(balancer.origin, 'free', {
          ...{ path: '/v1/optout', method: 'DELETE', headers, body },
        });
        if (call.status === 200) {
          world.load.expected.removals.set(record, { at: began, by: call.ended + GRACE });
          const removal = { record, at: call.ended };
          world.removals.push(removal);
          return removal;
        }
        if (call.status !== 503 && call.status !== 0 && call.status !== 502 && call.status !== 504)
          throw new Error(`opt-out of ${slugOf(record)}: ${call.status} ${text}`);
        await sleep(1_000);
      }
      throw new Error(`the opt-out of ${slugOf(record)} is not answered`);
    },
    async ready() {
      await until('all processes in the balancer', () => balancer.members().length === 3, 120);
    },
    async end() {
      await balancer.end().catch(() => {});
      for (const node of nodes) await node.remove();
      await killAll();
      await facilitator?.stop();
      await chain?.stop();
      await receiver.stop();
      await receiverProxy?.close();
      await mail.close();
      await services.close().catch(() => {});
      network?.remove();
      if (process.env['FLEET_KEEP'] === undefined) removeFolder(root);
    },
  };

  try {
    await world.publish();
    for (const node of nodes) await node.start();
    await world.ready();
    const keys = await makeKeys(balancer.origin, adminKey, KEYS);
    world.load = new Load({ origin: balancer.origin, keys, paysOnChain });
    world.load.expected.name(world.release.id, world.release.number);
    const headers = { Authorization: `Bearer ${keys[0]}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ dataset: 'parts', url: `http://${receiverHost}/hook`, attributes: ['stock'] });
    await json(await fetch(`${balancer.origin}/v1/keys/me/subscriptions`, { method: 'POST', headers, body }));
    await until('the confirmation of the subscription', () => receiver.received.length > 0, 60);
    world.announced = [];
    return world;
  } catch (error) {
    for (const { logFile } of nodes)
      try {
        console.error(readFileSync(logFile, 'utf8').split('\n').slice(-8).join('\n'));
      } catch {}
    await world.end();
    throw error;
  }
}

/** Milliseconds after the answer of an opt-out in which a process may still serve the record. */
const GRACE = 5_000;
