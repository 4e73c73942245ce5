// Money as integer micro-euros inside, as JSON numbers outside (contract section 2).

/** Micro-euros as EUR, at most six decimals. */
export function eur(micros: number): number {
  return micros / 1_000_000;
}

/**
 * Micro-euros to micro-dollars at a rate, rounded up, as x402 requires: ceil(micro-EUR × rate) (contract
 * section 1).
 */
export function microUsd(micros: number, rate: number): number {
  return Math.ceil(Number((micros * rate).toFixed(3)));
}

/** Micro-euros as USD at a rate, rounded up to a micro-dollar. */
export function usd(micros: number, rate: number): number {
  return microUsd(micros, rate) / 1_000_000;
}
