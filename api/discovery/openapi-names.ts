// Names in the OpenAPI document: operations, schemas and parameters, for all datasets and for one.
import type { Pack } from '../../packs/define/model.ts';
import type { Operation } from '../contract/operation.ts';
import { shortName } from '../operations/dataset/datasets_list.ts';

/** Operations whose names are verbs alone: a function `fetch` in a generated client would replace the platform's. */
const VERBS: Readonly<Record<string, string>> = {
  fetch: 'fetch_record',
  search: 'search_records',
  quote: 'quote_call',
  optout: 'optout_record',
};

/** `entity_search`, or `llm_models_search` for one dataset: the names of the agents' tools, but for verbs alone. */
export function operationId({ name }: Operation, pack: Pack | null): string {
  return pack === null ? (VERBS[name] ?? name) : `${schemaPrefix(pack)}_${shortName(name)}`;
}

/** `llm_models` for the dataset `llm-models`, in names that allow no hyphen. */
export function schemaPrefix({ id }: Pack): string {
  return id.replaceAll('-', '_');
}

/**
 * `EntitySearch`, or `LlmModelsEntitySearch`. `Record` alone would shadow TypeScript's own type in generated
 * clients.
 */
export function schemaName(name: string, pack: Pack | null): string {
  const words = `${pack === null ? (name === 'record' ? 'any_' : '') : `${pack.id}_`}${name}`.split(/[-_]/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** The path of an operation in OpenAPI form, for one dataset if given. */
export function openPath({ rest }: Operation, pack: Pack | null): string {
  return (pack === null ? rest.path : rest.path.replace(':ds', pack.id)).replace(/:(\w+)/g, '{$1}');
}

/** `getWellKnownAgentCardJson`: the id of an operation that is not in the table. */
export function pathOperationId(method: string, path: string): string {
  return (
    method +
    path
      .replace(/^\/$/, '/map')
      .replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase())
      .replace(/\W/g, '')
  );
}

/** Reference Object of OpenAPI: `{ $ref: '#/components/schemas/Record' }` for the kind `schemas`. */
export const componentRef = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
