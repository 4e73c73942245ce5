// Values derived from objects that never change: one cache for all of them (docs/caches.md).

const valuesByOwner = new WeakMap<object, Map<string, unknown>>();

/**
 * The value that `make` computes from an object and a name, computed once and dropped with the object. Neither
 * the object nor the value may be modified. A rejected promise is dropped, so that the next caller tries again.
 *
 *     const compressed = derive(text, 'gzip', () => gzip(text));
 */
export function derive<T>(owner: object, name: string, make: () => T): T {
  let values = valuesByOwner.get(owner);
  if (values === undefined) {
    values = new Map();
    valuesByOwner.set(owner, values);
  }
  const existing = values.get(name);
  if (existing !== undefined) return existing as T;
  const value = make();
  values.set(name, value);
  if (value instanceof Promise) value.catch(() => values.get(name) === value && values.delete(name));
  return value;
}

/** The value that `derive` returned for this name before; undefined if there is none. */
export function derived<T>(owner: object, name: string): T | undefined {
  return valuesByOwner.get(owner)?.get(name) as T | undefined;
}
