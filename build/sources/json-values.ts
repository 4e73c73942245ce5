// Values of JSON rows: numbers without loss, members by path, columns in order of appearance.

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A number in decimal digits as a number when a double has the same digits, else as a text: 1.500 is 1.5, and
 * 9007199254740993 keeps its digits. For types of databases that are wider than a double.
 */
export function numberOrText(digits: string): number | string {
  const number = Number(digits);
  const shortest = digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
  return Number.isFinite(number) && String(number) === shortest ? number : digits;
}

/** NaN and infinities as texts: JSON has no such numbers, and would store them as null, which is no value. */
export const finiteOrText = (number: number): number | string => (Number.isFinite(number) ? number : String(number));

/** The member at a path such as `data.items.0.name`, or undefined. A member with dots in its name comes first. */
export function valueAt(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, path)) return (value as JsonObject)[path];
  const dot = path.indexOf('.');
  if (dot < 0) return undefined;
  const member = path.slice(0, dot);
  return Object.hasOwn(value, member) ? valueAt((value as JsonObject)[member], path.slice(dot + 1)) : undefined;
}

/** A wanted path into a column of objects. */
export interface ColumnPath {
  path: string;
  column: number;
  member: string;
}

/** The wanted names that are no columns but paths into one. */
export function pathsOf(columns: readonly string[], wanted: ReadonlySet<string>): ColumnPath[] {
  return [...wanted].flatMap((path) => {
    if (columns.includes(path)) return [];
    const column = columns.findIndex((name) => path.startsWith(`${name}.`));
    return column < 0 ? [] : [{ path, column, member: path.slice(columns[column]!.length + 1) }];
  });
}

/**
 * Columns of objects: their members in order of appearance, then wanted paths into them. `columns` grows while
 * objects are read, so that a member that appears late is not lost.
 */
export class ObjectColumns {
  readonly columns: string[] = [];
  readonly #positions = new Map<string, number>();
  readonly #paths: string[];

  /** @param wanted names of members, or paths such as `address.city` */
  constructor(wanted: ReadonlySet<string>) {
    this.#paths = [...wanted].filter((name) => name.includes('.'));
  }

  /** The cells of an object, in the order of `columns`; undefined for a member that it lacks. */
  cells(object: JsonObject): unknown[] {
    const cells = new Array<unknown>(this.columns.length).fill(undefined);
    for (const name of Object.keys(object)) cells[this.#position(name)] = object[name];
    for (const path of this.#paths) {
      const value = Object.hasOwn(object, path) ? undefined : valueAt(object, path);
      if (value !== undefined) cells[this.#position(path)] = value;
    }
    return cells;
  }

  /** Adds the members of an object to the columns. */
  add(object: JsonObject): void {
    for (const name of Object.keys(object)) this.#position(name);
    for (const path of this.#paths) if (valueAt(object, path) !== undefined) this.#position(path);
  }

  #position(name: string): number {
    let position = this.#positions.get(name);
    if (position === undefined) {
      position = this.columns.push(name) - 1;
      this.#positions.set(name, position);
    }
    return position;
  }
}
