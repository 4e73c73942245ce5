// Browser scripts of pages that the API renders: a TypeScript module and those that it imports, served as one file without
// types. Its name contains the hash of the sources, so that it is immutable.
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

/** An import statement that exists at runtime, at the beginning of a line. */
const IMPORT = /^import \{([^}]*)\} from '(\.[^']+)';/gm;

/** Any other statement that imports or exports from a module, types excepted. */
const OTHER_IMPORT = /^(?:import (?!type )|export .* from ).*$/m;

/** The element of the head that loads a script. */
export const scriptHtml = (prefix: string, { path }: Asset): Html =>
  html`<script type="module" src="${prefix + path}"></script>`;

/** Path of an asset with its hash. */
export const assetPath = (name: string, extension: string, made: string): string =>
  `/assets/${name}.${hash('sha256', made, 'hex').slice(0, 12)}.${extension}`;

/** One script of a module and of all modules that it imports: each is a function, after those that it imports. */
export function scriptAsset(entry: URL): Asset {
  const sources = new Map<string, string>();
  const add = (url: URL): void => {
    if (sources.has(url.href)) return;
    const source = readFileSync(url, 'utf8');
    for (const [, , path = ''] of source.matchAll(IMPORT)) add(new URL(path, url));
    const other = OTHER_IMPORT.exec(source.replaceAll(IMPORT, ''));
    if (other) throw new Error(`${url.href}: a script of a page cannot contain "${other[0]}"`);
    sources.set(url.href, source);
  };
  add(entry);
  const nameOf = (href: string): string => `module${[...sources.keys()].indexOf(href)}`;
  const moduleOf = ([href, source]: [string, string]): string => {
    const code = javascriptOf(source);
    const names = [...code.matchAll(/^export (?:async )?(?:const|function|class) (\w+)/gm)].map(([, name]) => name);
    const body = code.replace(/^export /gm, '').replace(IMPORT, (_, list: string, path: string) => {
      return `const {${list.replaceAll(' as ', ': ')}} = ${nameOf(new URL(path, href).href)};`;
    });
    return `const ${nameOf(href)} = (() => {\n${body}\nreturn { ${names.join(', ')} };\n})();`;
  };
  let text: string | undefined;
  return {
    path: assetPath(basename(entry.pathname, '.ts'), 'js', [...sources.values()].join('')),
    content_type: 'text/javascript; charset=utf-8',
    get text() {
      text ??= [...sources].map(moduleOf).join('\n');
      return text;
    },
  };
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
