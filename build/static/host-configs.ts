// The header rules, and the addresses of record pages, as configurations of hosts: `_headers` (Cloudflare
// Pages, Netlify), `_redirects`, nginx, Caddy (docs/static-hosting.md).
import { API_PATHS, CACHING, EXTENSION_TYPES, FOR_EVER, type HostingRule } from '../../api/discovery/hosting.ts';

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

/** Where a configuration finds the published folder, and the API: its origin. */
export interface HostPlaces {
  root: string;
  /** Absent: LOCAL_API, and `_redirects` has no rules for the API. */
  api?: string | undefined;
}

/** The API behind a host on the same machine. */
const LOCAL_API = 'http://127.0.0.1:8787';

/**
 * `_redirects` for hosts that prefer an existing file to a rule, such as Netlify: the page of a record is that of
 * its dataset, which draws the Markdown file. These hosts do not read `Accept`.
 */
export function redirectsFile(_rules: readonly HostingRule[], { api }: HostPlaces): string {
  const paths = api === undefined ? [] : [...API_PATHS, '/v1/*'];
  const rules = paths.map((path) => `${path}  ${api}${path.replace(/\*$/, ':splat')}  200\n`);
  return `${rules.join('')}/explore/:dataset  /datasets/:dataset/  301!
/datasets/:dataset/:record  format=md  /datasets/:dataset/:record.md  200
/datasets/:dataset/:record  /record/:dataset/  200
`;
}

/** Clients that get the page of a record: they accept HTML by name, and do not name Markdown. */
const PEOPLE = { accepts: 'text/html', not: 'text/markdown' };

/** Paths as one regular expression. */
const anyOf = (paths: readonly string[]) => `(${paths.map(expression).join('|')})`;

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
 * A server of nginx. Types are set by location, other headers through maps, since an `add_header` in a location would
 * drop those of the server, as it does for the API, which sends its own. nginx omits headers with empty values.
 */
export function nginxConfig(rules: readonly HostingRule[], { root, api = LOCAL_API }: HostPlaces): string {
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
  const proxy = `add_header Vary "";
    proxy_pass ${api};
    proxy_http_version 1.1;
    proxy_buffering off;
    proxy_buffer_size 16k;
    proxy_buffers 8 16k;
    proxy_set_header Connection "";
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;`;
  // nginx adds the charset itself.
  const endings = Object.entries(EXTENSION_TYPES).map(([ending, type]) => `${type.split(';')[0]} ${ending};`);
  return `# Include it inside http {}, next to the types of your nginx (include mime.types).
types { ${endings.join(' ')} }
charset utf-8;
charset_types text/markdown text/plain;

${maps.join('\n\n')}

# Which form of a record's address a client gets: the page, or the Markdown file.
map "$arg_format $http_accept" $register_record_page {
  "~^md " 0;
  "~*${PEOPLE.not}" 0;
  "~*${PEOPLE.accepts}" 1;
  default 0;
}
map $request_uri $register_vary {
  "~^/datasets/[^/?]+/[^/.?]+/?([?]|$)" Accept;
}

server {
  listen 80;
  root ${quoted(root)};
  gzip_static on;
  gzip_vary on;
  # With the module ngx_brotli: brotli_static on;

${adds.join('\n')}
  add_header Vary $register_vary;
  error_page 404 /404.html;

  location ~ ${quoted(anyOf(API_PATHS))} {
    ${proxy}
  }
  location /v1/ { try_files $uri @register_api; }
  location @register_api {
    ${proxy}
  }
  location / { try_files $uri $uri.html $uri.md $uri/index.html =404; }
  location ~ "^/datasets/(?<dataset>[^/]+)/(?<record>[^/.]+)/?$" {
    error_page 404 = @register_api;
    if (!-f $document_root/datasets/$dataset/$record.md) { return 404; }
    if ($register_record_page = 0) { rewrite ^ /datasets/$dataset/$record.md last; }
    try_files /datasets/$dataset/$record/index.html /record/$dataset/index.html =404;
  }
  # The API renders a page that is no file, or answers that there is no record.
  location ~ "^/datasets/[^/]+/[^/.]+\\.md$" { try_files $uri @register_api; }
  location ~ "^/\\.build(/|$)" { return 404; }
  location ~ "^/explore/([^/]+)/?$" { return 301 /datasets/$1/$is_args$args; }
${locations.join('\n')}
}
`;
}

/** A site of Caddy. Caddy reads `{` and `}` in header values as placeholders; no value contains one. */
export function caddyConfig(rules: readonly HostingRule[], { root, api = LOCAL_API }: HostPlaces): string {
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
  @api path_regexp ${literal(anyOf(API_PATHS))}
  handle @api {
    reverse_proxy ${api}
  }
  @query {
    path /v1/*
    not file
  }
  handle @query {
    reverse_proxy ${api}
  }
  @unwritten {
    path_regexp ^/datasets/[^/]+/[^/.]+(\\.md)?/?$
    not file {path} /datasets/{http.request.uri.path.1}/{http.request.uri.path.2}.md
  }
  handle @unwritten {
    reverse_proxy ${api}
  }
  handle_errors {
    rewrite * /404.html
    header Content-Type "text/html; charset=utf-8"
    file_server
  }
  handle {
  @notes path /.build /.build/*
  error @notes 404
  @explorer path_regexp explorer ^/explore/([^/]+)/?$
  redir @explorer /datasets/{re.explorer.1}/?{query} 301
  @record path_regexp record ^/datasets/([^/]+)/([^/.]+)/?$
  route @record {
    header Vary Accept
    @people {
      header_regexp Accept (?i)${PEOPLE.accepts}
      not header_regexp Accept (?i)${PEOPLE.not}
      not query format=md
      file /datasets/{re.record.1}/{re.record.2}/index.html /record/{re.record.1}/index.html
    }
    rewrite @people {file_match.relative}
    @markdown path_regexp ^/datasets/[^/]+/[^/.]+/?$
    rewrite @markdown /datasets/{re.record.1}/{re.record.2}.md
    header @markdown Content-Type "${EXTENSION_TYPES['md']}"
  }
  @other {
    not path_regexp ^/datasets/[^/]+/[^/.]+/?$
    file {path} {path}.html {path}.md {path}/index.html
  }
  rewrite @other {file_match.relative}
${matched.join('\n')}
  @others not path_regexp ${literal(expression(FOR_EVER))}
  header @others Cache-Control ${literal(CACHING.asked_again)}
${endings.join('\n')}
  file_server {
    precompressed br gzip
  }
  }
}
`;
}
