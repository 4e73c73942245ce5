// Names of things in the OpenAPI document: operations, schemas and parameters, in general and of one dataset.
import type { Pack } from '../../packs/define/model.ts';
import type { Operation } from '../contract/operation.ts';
import { shortName } from '../operations/dataset/datasets_list.ts';

/** `entity_search`, or `llm_models_search` where it is about one dataset: as the tools of agents are called. */
export function operationId({ name }: Operation, pack: Pack | null): string {
  return pack === null ? name : `${prefixOf(pack)}_${shortName(name)}`;
}

/** `llm_models`: a dataset's id where no hyphen may stand. */
export function prefixOf({ id }: Pack): string {
  return id.replaceAll('-', '_');
}

/** `EntitySearch`, or `LlmModelsEntitySearch`. `Record` alone would hide a type of TypeScript's own in generated clients. */
export function schemaName(name: string, pack: Pack | null): string {
  const words = `${pack === null ? (name === 'record' ? 'any_' : '') : `${pack.id}_`}${name}`.split(/[-_]/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** The path of an operation as OpenAPI writes it, of one dataset where it is given. */
export function openPath({ route }: Operation, pack: Pack | null): string {
  return (pack === null ? route.path : route.path.replace(':ds', pack.id)).replace(/:(\w+)/g, '{$1}');
}

export const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
