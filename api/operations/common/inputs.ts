// Derives schema and parser of an operation from its parameters; and the attributes that published examples
// may name.
import type { z } from 'zod';
import { type ParameterSet, parameters } from '../../../data/input/parameters.ts';
import { ENTITY_ID, representation } from '../../../data/input/rows.ts';
import type { RawInput } from '../../../data/plan/plan.ts';
import type { AttributeType, Pack } from '../../../packs/define/model.ts';
import type { CalledAs, Context } from '../../contract/operation.ts';

interface InputOf<I> {
  input: (pack: Pack | null, as?: CalledAs) => z.ZodType;
  parse: (raw: RawInput, ctx: Context) => I;
}

/**
 * Schema and parser of an operation, from one table of parameters.
 *
 * @example
 * ```ts
 * const { input, parse } = inputOf(parameters({ limit: integerParameter('Records', { min: 1, max: 100, fallback: 20 }) }));
 * ```
 */
export function inputOf<I>({ schema, parse }: ParameterSet<I>): InputOf<I> {
  return {
    input: schema,
    parse: (raw, { release, format, now, cursors, point, by_name = false }) =>
      parse(raw, release?.pack ?? null, {
        ...{ now, cursors, point, format: format === 'html' ? 'json' : format },
        core: by_name && format === 'markdown',
      }),
  };
}

/** An operation without parameters, and without the `format` parameter. */
export const NO_PARAMETERS = parameters({});

/** An operation about one record without further parameters. */
export const entityParameters = (...formats: readonly string[]) =>
  parameters({ entity_id: ENTITY_ID, format: representation(...formats) });

/** Types that facets show as short texts. */
export const PLAIN: readonly AttributeType[] = ['enum', 'boolean', 'strings', 'string'];

/** Public attributes, optionally of some types: those that a published example may show. */
export function openNames(pack: Pack, types?: readonly AttributeType[]): string[] {
  return pack.attributes
    .filter((attribute) => attribute.public && (!types || types.includes(attribute.type)))
    .map(({ name }) => name);
}

/** `fields` of an example: the first public attributes. */
export function someFields(pack: Pack): string {
  return openNames(pack).slice(0, 2).join();
}
