// The header rules as configurations of hosts: `_headers` (Cloudflare Pages, Netlify), nginx, Caddy
// (docs/static-hosting.md).
import { CACHING, EXTENSION_TYPES, FOR_EVER, type HostingRule } from '../../api/discovery/hosting.ts';

/** Paths with their headers, in the order of the rules. */
function byPath(rules: readonly HostingRule[]): [string, HostingRule[]][] {
  const paths = new Map<string, HostingRule[]>();
  for (const rule of rules) paths.set(rule.path, [...(paths.get(rule.path) ?? []), rule]);
  return [...paths];
}

/**
 * `_headers`, which Cloudflare Pages and Netlify read from the root of the site. Both join the values of
 * several rules for one header, and both send `max-age=0` by default, so only immutable paths are listed.
 */
export function headersFile(rules: readonly HostingRule[]): string {
  const blocks = byPath(rules).map(([path, list]) =>
    [path, ...list.map(({ header, value }) => `  ${header}: ${value}`)].join('\n'),
  );
  const types = Object.entries(EXTENSION_TYPES).map(([ending, type]) => `/*.${ending}\n  Content-Type: ${type}`);
  return `${[...blocks, ...types].join('\n\n')}\n`;
}

/** A path as a regular expression over the whole path of a URL. */
function expression(path: string): string {
  const plain = path.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return `^${plain.replace(/:\w+/g, '[^/]+').replace(/\/\*$/, '/')}${path.endsWith('/*') ? '' : '$'}`;
}

const variable = (header: string) => `$register_${header.toLowerCase().replaceAll('-', '_')}`;

/** Text in quotes for nginx. */
const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** A string in backticks for Caddy; no value contains a backtick. */
const literal = (text: string) => `\`${text}\``;

/**
 * A server of nginx: `root` is the published folder. Types are set by location, other headers through maps,
 * since an `add_header` in a location would drop those of the server. nginx omits headers with empty values.
 */
export function nginxConfig(rules: readonly HostingRule[], root: string): string {
  const types = rules.filter(({ header }) => header === 'Content-Type');
  const others = rules.filter(({ header }) => header !== 'Content-Type');
  const headers = [...new Set(others.map(({ header }) => header))];
  const everywhere = (header: string) => others.find((rule) => rule.header === header && rule.path === '/*')?.value;
  const maps = headers
    .filter((header) => everywhere(header) === undefined)
    .map((header) =>
      [
        `map $uri ${variable(header)} {`,
        `  default ${quoted(header === 'Cache-Control' ? CACHING.asked_again : '')};`,
        ...others
          .filter((rule) => rule.header === header)
          // nginx has replaced `/` by its index file when it adds headers.
          .map(({ path, value }) =>
            path === '/' ? `  ~^/(index\\.html)?$ ${quoted(value)};` : `  ~${expression(path)} ${quoted(value)};`,
          ),
        '}',
      ].join('\n'),
    );
  const adds = headers.map((header) => {
    const value = everywhere(header);
    return `  add_header ${header} ${value === undefined ? variable(header) : quoted(value)};`;
  });
  const locations = types.map(
    ({ path, value }) => `  location ~ ${quoted(expression(path))} { types {} default_type ${quoted(value)}; }`,
  );
  // nginx adds the charset itself.
  const endings = Object.entries(EXTENSION_TYPES).map(([ending, type]) => `${type.split(';')[0]} ${ending};`);
  return `# Include it inside http {}, next to the types of your nginx (include mime.types).
types { ${endings.join(' ')} }
charset utf-8;
charset_types text/markdown text/plain;

${maps.join('\n\n')}

server {
  listen 80;
  root ${quoted(root)};
  gzip_static on;
  # With the module ngx_brotli: brotli_static on;

${adds.join('\n')}

  location / { try_files $uri $uri.html $uri.md $uri/index.html =404; }
  location ~ "^/\\.build(/|$)" { return 404; }
  location ~ "^/explore/([^/]+)/?$" { return 301 /datasets/$1/$is_args$args; }
${locations.join('\n')}
}
`;
}

/** A site of Caddy. Caddy reads `{` and `}` in header values as placeholders; no value contains one. */
export function caddyConfig(rules: readonly HostingRule[], root: string): string {
  const matched = byPath(rules).flatMap(([path, list], at) => {
    const set = list.map(({ header, value }) => `${header} ${literal(value)}`);
    if (path === '/*') return set.map((line) => `  header ${line}`);
    return [
      `  @register${at} path_regexp ${literal(expression(path))}`,
      ...set.map((line) => `  header @register${at} ${line}`),
    ];
  });
  const endings = Object.entries(EXTENSION_TYPES).flatMap(([ending, type]) => [
    `  @${ending} path *.${ending}`,
    `  header @${ending} Content-Type "${type}"`,
  ]);
  return `:80 {
  root * ${literal(root)}
  @notes path /.build /.build/*
  respond @notes 404
  @explorer path_regexp explorer ^/explore/([^/]+)/?$
  redir @explorer /datasets/{re.explorer.1}/?{query} 301
  try_files {path} {path}.html {path}.md {path}/index.html
${matched.join('\n')}
  @others not path_regexp ${literal(expression(FOR_EVER))}
  header @others Cache-Control ${literal(CACHING.asked_again)}
${endings.join('\n')}
  file_server {
    precompressed br gzip
  }
}
`;
}
