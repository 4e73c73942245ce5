// The operations that agents read as resources, by their address: `service://{dataset}/entity/{entity_id}`.
import type { Operation } from '../../contract/operation.ts';
import { dataset_guide } from '../../operations/dataset/dataset_guide.ts';
import { entity_page } from '../../operations/record/entity_page.ts';

/** Free texts with an address of their own. */
export const RESOURCES: readonly Operation[] = [dataset_guide, entity_page].filter(({ resource }) => resource);

/** A resource that an address names, with the arguments in it; null for any other address. */
export function resourceAt(uri: string): { operation: Operation; given: Record<string, string> } | null {
  for (const operation of RESOURCES) {
    const names = [...(operation.resource ?? '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const pattern = (operation.resource ?? '').replaceAll('.', '\\.').replace(/\{\w+\}/g, '([^/?#]+)');
    const found = new RegExp(`^${pattern}$`).exec(uri);
    if (!found) continue;
    try {
      const values = found.slice(1).map(decodeURIComponent);
      return { operation, given: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])) };
    } catch {
      return null;
    }
  }
  return null;
}
