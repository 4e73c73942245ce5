// Plans of keys: calls a minute, bulk access, price a month (contract section 3, "Plans"), and the welcome
// credit.

export interface Subscription {
  /** Paid calls a minute; null: unlimited. */
  calls: number | null;
  /** Whether exports and the change feed are included. */
  bulk: boolean;
  /** Whether each call is charged to the balance. */
  charged: boolean;
  /** Most subscriptions to changes. */
  subscriptions: number;
  /** EUR a month; null: not for sale. */
  eur_per_month: number | null;
}

/** Credit of a new key, in micro-euros (specification section 8). */
export const WELCOME_CREDIT = 500_000;

/** All plans by name. `internal` is for our own use, only by an operator's grant. */
export const SUBSCRIPTIONS = {
  payg: { calls: 60, bulk: false, charged: true, subscriptions: 3, eur_per_month: null },
  pro: { calls: 300, bulk: true, charged: true, subscriptions: 50, eur_per_month: 49 },
  scale: { calls: 1200, bulk: true, charged: true, subscriptions: 500, eur_per_month: 199 },
  internal: { calls: null, bulk: true, charged: false, subscriptions: 500, eur_per_month: null },
} as const satisfies Record<string, Subscription>;

export type PlanName = keyof typeof SUBSCRIPTIONS;

/** The plan with this name; `payg` for an unknown name. */
export function subscription(plan: string): Subscription {
  return Object.hasOwn(SUBSCRIPTIONS, plan) ? SUBSCRIPTIONS[plan as PlanName] : SUBSCRIPTIONS.payg;
}

/** The plan's name for readers: `Pro plan`. */
export const planTitle = (plan: string | null): string => `${(plan ?? '').replace(/^./, (c) => c.toUpperCase())} plan`;

/** The plan that applies now: an expired paid plan falls back to `payg`. Times in milliseconds since 1970. */
export function currentPlan(key: { plan: string; plan_until: number | null }, now: number): string {
  return key.plan_until !== null && key.plan_until <= now ? 'payg' : key.plan;
}
