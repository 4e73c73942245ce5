// The plans a key can be on: how often it may call, what it may fetch, what it costs a month (contract section 3, "Plans"); and what a key begins with.

export interface Subscription {
  /** Paid calls a minute; null: as many as it likes. */
  calls: number | null;
  /** Whether exports and the change feed are part of it. */
  bulk: boolean;
  /** Whether each call is charged to the balance. */
  charged: boolean;
  /** EUR a month; null: it cannot be bought. */
  eur_per_month: number | null;
}

/** Credit of a new key, in micro-euros (specification section 8). */
export const WELCOME_CREDIT = 500_000;

/** Every plan by its name. `internal` is for ourselves, by an operator's grant only. */
export const SUBSCRIPTIONS = {
  payg: { calls: 60, bulk: false, charged: true, eur_per_month: null },
  pro: { calls: 300, bulk: true, charged: true, eur_per_month: 49 },
  scale: { calls: 1200, bulk: true, charged: true, eur_per_month: 199 },
  internal: { calls: null, bulk: true, charged: false, eur_per_month: null },
} as const satisfies Record<string, Subscription>;

export type PlanName = keyof typeof SUBSCRIPTIONS;

/** The plan of this name; one that nobody knows any more counts as `payg`. */
export function subscription(plan: string): Subscription {
  return Object.hasOwn(SUBSCRIPTIONS, plan) ? SUBSCRIPTIONS[plan as PlanName] : SUBSCRIPTIONS.payg;
}

/** The plan that counts now: a paid one falls back to `payg` when its time is over. Times in milliseconds since 1970. */
export function currentPlan(key: { plan: string; plan_until: number | null }, now: number): string {
  return key.plan_until !== null && key.plan_until <= now ? 'payg' : key.plan;
}
