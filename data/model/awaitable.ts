// Values that may exist already or come from a promise. A function that needs no I/O for most calls returns
// the value itself: a promise and its turn of the microtask queue take longer than finding a record.

/** A value, or a promise of it. `await` accepts both. */
export type Awaitable<T> = T | Promise<T>;

/** `make(value)`; a promise when `value` is a promise. */
export function whenReady<T, R>(value: Awaitable<T>, make: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(make) : make(value);
}
