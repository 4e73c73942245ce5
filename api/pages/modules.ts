// Browser scripts of pages that the API renders: TypeScript modules, served without their types. A module's name
// contains the hash of its source and of the modules that it imports, so that all of them are immutable.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename } from 'node:path';
import { type Html, html } from './html.ts';

/** A file with immutable content. */
export interface Asset {
  /** Path of its URL, without the base: `/assets/page.0f3a….css`. */
  path: string;
  content_type: string;
  readonly text: string;
}

/** The module of an import statement that exists at runtime. */
const IMPORTED = /^(?:import|export) (?!type\b)[^;']*?from '(\.[^']+)';/gm;

/** The elements of the head that load modules; the last one is the entry. */
export const modulesHtml = (prefix: string, modules: readonly Asset[]): Html =>
  html`${modules.map(
    ({ path }) => html`<link rel="modulepreload" href="${prefix + path}">\n`,
  )}<script type="module" src="${prefix + (modules.at(-1)?.path ?? '')}"></script>`;

/** Path of an asset with its hash. */
export const assetPath = (name: string, extension: string, made: string): string =>
  `/assets/${name}.${hash('sha256', made, 'hex').slice(0, 12)}.${extension}`;

/** A module and all modules that it imports; a module follows those that it imports, so it is the last one. */
export function moduleAssets(entry: URL): Asset[] {
  const assets = new Map<string, Asset>();
  const add = (url: URL): Asset => {
    const asset = assets.get(url.href);
    if (asset) return asset;
    const source = readFileSync(url, 'utf8');
    const imports = new Map(
      [...source.matchAll(IMPORTED)].map(([, name = '']) => [name, `./${basename(add(new URL(name, url)).path)}`]),
    );
    let text: string | undefined;
    const made: Asset = {
      path: assetPath(basename(url.pathname, '.ts'), 'js', source + [...imports.values()].join()),
      content_type: 'text/javascript; charset=utf-8',
      get text() {
        text ??= javascriptOf(source).replace(/ from '(\.[^']+)';/g, (_, name) => ` from '${imports.get(name)}';`);
        return text;
      },
    };
    assets.set(url.href, made);
    return made;
  };
  add(entry);
  return [...assets.values()];
}

/** JavaScript without types and empty lines. Node's warning that this function is experimental is dropped. */
function javascriptOf(source: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source)
      .replace(/[ \t]+$/gm, '')
      .replace(/\n{2,}/g, '\n');
  } finally {
    process.emitWarning = emitWarning;
  }
}
