// The most recently used entries of a map, up to a weight. A Map keeps insertion order; a hit moves to the end.

export class Lru<K, V> {
  readonly #most: number;
  readonly #weigh: (value: V) => number;
  readonly #map = new Map<K, V>();
  #weight = 0;

  /** Keeps values that weigh at most so much together; without `weigh`, so many. One that weighs more by itself is not kept. */
  constructor(most: number, weigh: (value: V) => number = () => 1) {
    this.#most = most;
    this.#weigh = weigh;
  }

  /** What is kept weighs together. */
  get weight(): number {
    return this.#weight;
  }

  get(key: K): V | undefined {
    const value = this.#map.get(key);
    if (value === undefined) return undefined;
    this.#map.delete(key);
    this.#map.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#drop(key);
    const weight = this.#weigh(value);
    if (weight > this.#most) return;
    this.#map.set(key, value);
    this.#weight += weight;
    while (this.#weight > this.#most) this.#drop(this.#map.keys().next().value as K);
  }

  #drop(key: K): void {
    const value = this.#map.get(key);
    if (value === undefined) return;
    this.#map.delete(key);
    this.#weight -= this.#weigh(value);
  }

  clear(): void {
    this.#map.clear();
    this.#weight = 0;
  }
}
