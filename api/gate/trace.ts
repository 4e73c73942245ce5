// Spans of the steps of a call, around the parts of the gate: without traces the gate is what it was.
import { type Tracing, trace } from '../../data/model/tracing.ts';
import type { Operation } from '../contract/operation.ts';
import type { Payments } from '../payments/payments.ts';
import type { CallDeps } from './context.ts';

/** Routes of calls by name. */
const ROUTES = { mcp: '/mcp', a2a: '/a2a' } as const;

/** The gate with a span for each of identify, query, reserve and commit, and the operation noted on the request. */
export function traceGate(gate: CallDeps, tracing: Tracing): CallDeps {
  const routes = new Map(gate.operations.map(({ name, rest }) => [name, rest.path]));
  const { onCall } = gate;
  return {
    ...gate,
    identify: (credential) => trace('identify', {}, () => gate.identify(credential)),
    payments: tracePayments(gate.payments),
    operations: gate.operations.map(traceOperation),
    onCall(call) {
      const { operation, channel, dataset, outcome } = call;
      const route = channel === 'mcp' || channel === 'a2a' ? ROUTES[channel] : routes.get(operation);
      tracing.note({
        ...(route === undefined ? {} : { 'http.route': route }),
        'register.operation': operation,
        'register.channel': channel,
        'register.outcome': outcome,
        ...(dataset === '' ? {} : { 'register.dataset': dataset }),
      });
      onCall?.(call);
    },
  };
}

function traceOperation(operation: Operation): Operation {
  const attributes = { 'register.operation': operation.name };
  // Called as a method, because an operation may refer to itself.
  return { ...operation, run: async (input, ctx) => trace('query', attributes, () => operation.run(input, ctx)) };
}

function tracePayments(payments: Payments): Payments {
  const { afford, waiting } = payments;
  return {
    quote: (caller, price) => payments.quote(caller, price),
    ...(afford ? { afford: (caller, price) => afford.call(payments, caller, price) } : {}),
    ...(waiting ? { waiting: (secret) => waiting.call(payments, secret) } : {}),
    async reserve(caller, price, attached) {
      const reservation = await trace('reserve', {}, () => payments.reserve(caller, price, attached));
      return {
        ...reservation,
        commit: async (answer, shown) => trace('charge', {}, () => reservation.commit(answer, shown)),
      };
    },
  };
}
